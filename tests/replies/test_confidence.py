"""What a model states of its own label: read in many spellings, and never taken for certainty where it cannot be."""

from __future__ import annotations

import json
from typing import Any

import pytest

from intrinsics_core import answerability, evaluate, fact_check, reranking, run
from intrinsics_core.protocol.requests import Generate
from intrinsics_core.protocol.results import Answerability
from intrinsics_core.runtimes.scripted import Scripted

DOCUMENTS = ["The tide mill was built in 1911 by Ada Brink.", "Fog is common in May."]
ASK = [{"role": "user", "content": "Who built the tide mill?"}]
ANSWERED = [*ASK, {"role": "assistant", "content": "Ada Brink built the tide mill in 1911."}]


def judged(label: str, stated: str) -> Answerability:
    """The verdict of a reply whose confidence is spelled so."""
    return run(answerability(ASK, DOCUMENTS), Scripted([f'{{"answerability": "{label}", "confidence": {stated}}}']))


@pytest.mark.parametrize(
    ("stated", "probability"),
    [("0.8", 0.8), ('"0.8"', 0.8), ('"80%"', 0.8), ("80", 0.8), ('" 80 %"', 0.8), ('"80"', 0.8), ("100", 1.0),
     ("1", 1.0), ("0.5", 0.5), ('"50%"', 0.5), ('".8"', 0.8), ('"0,8"', 0.8), ('"8/10"', 0.8), ('"0.8 / 1"', 0.8),
     ("10", 1.0), ('"10"', 1.0)],
)  # fmt: skip
def test_a_confidence_may_be_stated_in_several_ways(stated: str, probability: float) -> None:
    assert judged("answerable", stated).probability == pytest.approx(probability)
    assert judged("unanswerable", stated).probability == pytest.approx(1 - probability)


@pytest.mark.parametrize(
    "stated",
    ["7", "-1", "101", "true", "NaN", "1e400", '""', '"80%%"', '"8/0"', '"12/10"', '"quite"', '"high"', '"7-9"',
     '"<0.9"', '"0.9 or less"', '"1000%"', '"0.8, 0.9"', '{"value": 0.55}', "[0.55]", "0", "0.3", '"2/10"', '"1%"',
     '"10%"'],
)  # fmt: skip
def test_a_confidence_that_is_unread_or_too_low_is_hardly_more_than_an_even_chance(stated: str) -> None:
    for label, probability in (("answerable", 0.51), ("unanswerable", 0.49)):
        found = judged(label, stated)
        assert (found.label, found.probability) == (label, pytest.approx(probability))


def test_without_a_confidence_the_label_stands_alone() -> None:
    assert judged("answerable", "null").probability == 1.0
    assert run(answerability(ASK, DOCUMENTS), Scripted(['{"answerability": "answerable"}'])).probability == 1.0


@pytest.mark.parametrize(("stated", "score"), [("quite sure", 0.51), ("2/5", 0.51), (0.5, 0.5), (0.55, 0.55)])
def test_a_rating_is_as_sure_as_it_says(stated: Any, score: float) -> None:
    said = {"explanation": "", "statements": [], "rating": "yes", "confidence": stated}
    (rated,) = run(evaluate(ANSWERED, DOCUMENTS, metrics="faithfulness"), Scripted([said])).metrics
    assert (rated.rating, rated.score) == ("yes", pytest.approx(score))


@pytest.mark.parametrize("stated", ["quite sure", "low", 0.1])
def test_the_label_still_decides_where_a_number_alone_is_kept(stated: Any) -> None:
    """Rankings and fact checks keep the number: no confidence must make *yes* and *no* equal."""

    def script(request: Generate) -> Any:
        said = str(request.messages)
        if "supported" in said:
            return {"supported": "no" if "1958" in said else "yes", "confidence": stated}
        return {"context_relevance": "irrelevant" if "Fog" in said else "relevant", "confidence": stated}

    ranked = run(reranking(ASK, list(reversed(DOCUMENTS)), mode="pointwise"), Scripted(script)).ranking
    assert [row.index for row in ranked] == [1, 0] and ranked[0].score == pytest.approx(0.5075, abs=1e-3)
    for year, score in (("1911", 0.51), ("1958", 0.49)):
        answered = [*ASK, {"role": "assistant", "content": f"Ada Brink built it in {year}."}]
        assert run(fact_check(answered, DOCUMENTS[:1]), Scripted(script)).score == pytest.approx(score)


def test_stated_shares_are_the_same_in_json_and_in_text() -> None:
    for share in (0, 0.25, 0.55, 0.999, 1):
        assert judged("answerable", json.dumps(share)) == judged("answerable", json.dumps(str(share)))
