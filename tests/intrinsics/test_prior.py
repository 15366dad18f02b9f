"""A retriever's scores take part in a ranking, and never overturn what the passages say."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest

from intrinsics_core import InvalidInput, reranking, run
from intrinsics_core.protocol.profile import Format, Profile
from intrinsics_core.protocol.results import Ranking
from intrinsics_core.protocol.task import Task
from tests.scripted import Scripted
from tests.tide_mill import ASKED as ASK

GOLD = {"id": "gold", "text": "The tide mill was built in 1911 by the engineer Ada Brink."}
OTHERS = ["Fog is common in May.", "The ferry sails twice a day.", "Puffins nest on the north cliff."]


def others(count: int) -> list[dict[str, Any]]:
    return [{"text": f"{OTHERS[i % 3]} It was so in {1900 + i}."} for i in range(count)]


def scored(documents: list[dict[str, Any]], scores: list[float]) -> list[dict[str, Any]]:
    return [document | {"score": score} for document, score in zip(documents, scores, strict=True)]


def by_probability(probabilities: list[float], scores: list[Any], **options: Any) -> Ranking:
    """A ranking of passages of which the model gives these probabilities, and the retriever these scores."""

    def said(task: Task, replies: Any) -> list[float]:
        return [probabilities[int(document.text)] for document in task.documents]

    profile = Profile("fixed", {"pointwise": Format(lambda task: [], said)})
    documents = [{"text": str(i), "score": score} for i, score in enumerate(scores)]
    return run(reranking(ASK, documents, **options), Scripted([]), profile=profile)


def order(found: Ranking) -> list[int]:
    return [row.index for row in found.ranking]


@pytest.mark.parametrize("count", [10, 20, 50])
@pytest.mark.parametrize("place", ["last", "middle"])
def test_ties_do_not_throw_out_the_passage_that_answers(count: int, place: str) -> None:
    """The model gives it .9; the retriever .45, and .5 to all the others."""
    given = scored(others(count - 1), [0.5] * (count - 1))
    at = count - 1 if place == "last" else count // 2
    found = run(reranking(ASK, [*given[:at], GOLD | {"score": 0.45}, *given[at:]]))
    assert found.ranking[0].document_id == "gold"
    assert (found.prior is None) == (place == "middle")  # falls and rises again: no order
    assert found.ranking[0].score > 0.5 > found.ranking[1].score


def test_one_outlier_does_not_overturn_a_clear_difference() -> None:
    given = scored(others(29), [9.0] + [0.0] * 28)
    found = run(reranking(ASK, [*given, GOLD | {"score": 0.0}]))
    assert found.prior == "higher is better"
    assert found.ranking[0].document_id == "gold"
    assert found.ranking[0].score > 0.8


def test_scores_are_bounded_whatever_a_retriever_gives() -> None:
    mix = random.Random(3)
    for size in (2, 3, 10, 40):
        for spread in (1e-9, 1.0, 1e12):
            scores = sorted((mix.random() * spread for _ in range(size)), reverse=True)
            told = [mix.uniform(0.02, 0.98) for _ in range(size)]
            for row in by_probability(told, scores).ranking:
                moved = math.log(row.score / (1 - row.score)) - math.log(told[row.index] / (1 - told[row.index]))
                assert abs(moved) < 1.0
            assert order(by_probability([0.9] + [0.4] * (size - 1), scores[::-1], prior="higher"))[0] == 0
            worst_first = sorted(scores)
            assert order(by_probability([0.9] + [0.4] * (size - 1), worst_first, prior="higher"))[0] == 0


def test_near_equals_go_by_the_retriever() -> None:
    assert order(by_probability([0.5, 0.52, 0.51], [30.0, 20.0, 10.0])) == [0, 1, 2]
    assert order(by_probability([0.5, 0.52, 0.51], [30.0, 20.0, 10.0], prior=None)) == [1, 2, 0]


@pytest.mark.parametrize(
    ("scores", "options", "direction", "first"),
    [
        ([3.0, 2.0, 2.0], {}, "higher is better", 0),
        ([0.1, 0.1, 0.4], {}, "lower is better", 0),
        ([0.1, 0.3, 0.2], {}, None, 0),
        ([0.1, 0.3, 0.2], {"prior": "higher"}, "higher is better", 1),
        ([0.2, 0.3, 0.1], {"prior": "lower"}, "lower is better", 2),
        ([0.1, 0.2, 0.4], {"prior": "higher"}, "higher is better", 2),
        ([2.0, 2.0, 2.0], {}, None, 0),
        ([2.0, 2.0, 2.0], {"prior": "lower"}, None, 0),
        ([3.0, None, 1.0], {}, None, 0),
        ([3.0, None, 1.0], {"prior": "lower"}, None, 0),
        ([math.inf, 2.0, 1.0], {}, None, 0),
        ([3.0, 2.0, 1.0], {"prior": None}, None, 0),
    ],
)
def test_the_direction_is_read_from_the_list_or_said(
    scores: list[Any], options: dict[str, Any], direction: str | None, first: int
) -> None:
    found = by_probability([0.5, 0.5, 0.5], scores, **options)
    assert found.prior == direction
    assert order(found)[0] == first
    assert found.model_dump().get("prior") == direction
    if direction is None:
        assert [row.score for row in found.ranking] == [0.5] * 3


def test_distances_of_a_store_rank_the_nearest_first() -> None:
    """FAISS and Chroma give distances. Taken for scores, they put the farthest of three equals first."""
    twins = scored([{"id": str(i), "text": GOLD["text"]} for i in range(3)], [0.21, 0.44, 0.97])
    found = run(reranking(ASK, twins))
    assert [row.document_id for row in found.ranking] == ["0", "1", "2"]
    assert found.prior == "lower is better"


def test_certainty_stays_certain() -> None:
    found = by_probability([0.0, 1.0, 0.5], [3.0, 2.0, 1.0])
    assert {row.index: row.score for row in found.ranking if row.index < 2} == {0: 0.0, 1: 1.0}


@pytest.mark.parametrize("prior", ["up", True, 0, 1.0, math.nan])
def test_a_wrong_reading_is_named_at_once(prior: Any) -> None:
    with pytest.raises(InvalidInput, match="prior"):
        reranking(ASK, ["a"], prior=prior)
