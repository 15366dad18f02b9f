"""The fact check: which sources are read, what they weigh, and what their scores come to. Computed by hand."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from intrinsics_core import InvalidInput, fact_check
from intrinsics_core.profiles.base import Format, Profile
from intrinsics_core.requests import Generate, Generated
from intrinsics_core.results import FactCheck

ASKED = [{"role": "user", "content": "Who built it?"}, {"role": "assistant", "content": "Ada Brink."}]

# The sources in the caller's order: the logit of how relevant each is (their softmax is .2, .4, .1, .3), and how far it
# supports the answer. The most relevant one supports it neither most nor least.
LOGITS = (math.log(0.2), math.log(0.4), math.log(0.1), math.log(0.3))
RELEVANCE = (2 / 12, 4 / 14, 1 / 11, 3 / 13)  # 1 / (1 + 1 / x) of the same x
SUPPORT = (0.9, 0.5, 0.1, 0.2)

# What is read, by the number of sources: their weights (shares of the softmax of those that are read), and the sum
# of weight times support, its least and its greatest support.
#               weights, in the caller's order   weighted                              min  max
READ = {
    1: ((0, 1, 0, 0),                            0.5,                                  0.5, 0.5),
    2: ((0, 4 / 7, 0, 3 / 7),                    (4 * 0.5 + 3 * 0.2) / 7,              0.2, 0.5),
    3: ((2 / 9, 4 / 9, 0, 3 / 9),                (2 * 0.9 + 4 * 0.5 + 3 * 0.2) / 9,    0.2, 0.9),
    4: ((0.2, 0.4, 0.1, 0.3),                    0.18 + 0.20 + 0.01 + 0.06,            0.1, 0.9),
}  # fmt: skip
# top_k and top_p -> how many are read. Their shares of the softmax add up to .4, .7, .9, 1.
CHOSEN = {
    (None, None): 4, (1, None): 1, (2, None): 2, (3, None): 3, (4, None): 4, (9, None): 4,
    (None, 0.3): 1, (None, 0.5): 2, (None, 0.8): 3, (None, 0.95): 4, (None, 1.0): 4,
    (3, 0.5): 2, (2, 0.8): 2, (1, 0.95): 1, (4, 0.3): 1, (3, 1.0): 3,
}  # fmt: skip


def _told(kind: str, value: Any) -> Format[Any]:
    """A format whose request names what is asked and of which source, and whose reply is a number."""
    return Format(
        lambda task: [Generate(task.intrinsic, prompt=f"{kind} {task.documents[0].id}")],
        lambda task, replies: value(task, json.loads(replies[0].text)),
    )


PROFILE = Profile(
    "numbers",
    {
        "relevance": _told("relevance", lambda task, logit: logit),
        "entailment": _told("support", lambda task, score: score),
    },
)


def checked(logits: tuple[float, ...], support: tuple[float, ...], **options: Any) -> tuple[FactCheck, list[int]]:
    """The result, and the places of the sources that were read."""
    documents = [{"id": str(i), "text": f"Source {i}."} for i in range(len(logits))]
    program = fact_check(ASKED, documents, **options).start(PROFILE)
    assert [request.prompt for request in next(program)] == [f"relevance {i}" for i in range(len(logits))]
    asked = program.send([Generated(str(logit)) for logit in logits])
    read = [int(request.prompt.removeprefix("support ")) for request in asked]
    with pytest.raises(StopIteration) as stopped:
        program.send([Generated(str(support[i])) for i in read])
    return stopped.value.value, read


@pytest.mark.parametrize("aggregate", ["weighted", "min", "max"])
@pytest.mark.parametrize(("top_k", "top_p"), CHOSEN)
def test_the_table(top_k: int | None, top_p: float | None, aggregate: str) -> None:
    weights, *totals = READ[CHOSEN[top_k, top_p]]
    result, read = checked(LOGITS, SUPPORT, top_k=top_k, top_p=top_p, aggregate=aggregate)
    assert read == [i for i, weight in enumerate(weights) if weight]
    assert result.score == pytest.approx(dict(zip(("weighted", "min", "max"), totals, strict=True))[aggregate])
    assert [source.document_id for source in result.sources] == ["0", "1", "2", "3"]
    assert [source.relevance for source in result.sources] == pytest.approx(RELEVANCE)
    assert [source.weight for source in result.sources] == pytest.approx(weights)
    assert [source.score for source in result.sources] == [SUPPORT[i] if i in read else None for i in range(4)]


def test_equally_relevant_sources_are_read_in_the_callers_order() -> None:
    result, read = checked((0.5, 0.5, 0.5), (0.2, 0.4, 0.9), top_k=2, aggregate="weighted")
    assert read == [0, 1]
    assert result.score == pytest.approx(0.3)


def test_where_nothing_is_relevant_all_weigh_the_same() -> None:
    result, _ = checked((-36.0, -36.0), (0.2, 0.8), aggregate="weighted")
    assert [source.weight for source in result.sources] == [0.5, 0.5]
    assert result.score == pytest.approx(0.5)


@pytest.mark.parametrize("bad", [{"top_k": 0}, {"top_p": 0.0}, {"top_p": 1.1}, {"aggregate": "mean"}])
def test_an_option_out_of_range_is_named(bad: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match=next(iter(bad))):
        fact_check(ASKED, ["A source."], **bad)
