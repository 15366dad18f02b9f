"""Every number of a result says what it is a probability of: in its schema, in events, and where it is printed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from intrinsics_core.intrinsics import TABLE
from intrinsics_core.protocol import results
from intrinsics_core.protocol.telemetry import verdicts
from intrinsics_core.render.html import result as page
from intrinsics_core.service import short_results

UNCERTAIN = results.Uncertainty(certainty=0.85, expected=0.8)
RATED = results.Evaluation(metrics=(results.RatedMetric(name="coherence", rating="yes", score=0.9),))
AUDITED = results.Audit(answerability=None, sentences=(), label="faithful", score=0.9, certainty=0.85,
                        answer_relevance=0.7)  # fmt: skip


def numbers(schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for kind in (schema, *schema.get("$defs", {}).values()):
        for name, field in kind.get("properties", {}).items():
            branches = field.get("anyOf", [field])
            if any(branch.get("type") == "number" for branch in branches):
                yield f"{kind['title']}.{name}", field


@pytest.mark.parametrize("intrinsic", TABLE)
def test_the_schema_says_it(intrinsic: str) -> None:
    for name, field in numbers(TABLE[intrinsic].result.model_json_schema()):
        words = field.get("description", "")
        assert any(word in words for word in ("probability", "share")), name


def test_a_certainty_is_the_probability_of_a_right_answer() -> None:
    told_of = dict(numbers(results.Uncertainty.model_json_schema()))
    assert "the answer is right" in told_of["Uncertainty.certainty"]["description"]
    assert "the answer is right" in told_of["Uncertainty.expected"]["description"]
    assert "answer is right" in (results.Uncertainty.__doc__ or "")


def test_events_say_it() -> None:
    (event,) = verdicts("uncertainty", UNCERTAIN)
    assert event["rag_intrinsics.score.meaning"].startswith("probability that the answer is right")
    (event,) = verdicts("audit", AUDITED)
    assert event["rag_intrinsics.score.meaning"] == "probability that the documents support the response"
    (event,) = verdicts("evaluate", RATED)
    assert (event["rag_intrinsics.metric"], event["gen_ai.evaluation.score.label"]) == ("coherence", "yes")
    assert event["rag_intrinsics.score.meaning"] == 'probability that the rating is "yes"'
    assert list(verdicts("uncertainty", results.Uncertainty(certainty=None))) == []


def test_what_is_printed_says_it() -> None:
    assert "probability that the answer is right" in page(UNCERTAIN)
    assert "probability that it addresses the question" in page(AUDITED)
    assert "Probability that the answer is right: 0.85." in short_results.audit(AUDITED)
    document = results.RankedDocument(document_id="d", index=0, rank=1, score=0.9)
    assert "probability of relevance" in page(results.Ranking(ranking=(document,), mode="pointwise"))
    assert "share of the others" in page(results.Ranking(ranking=(document,), mode="listwise"))
    assert "probability" not in short_results.ranking(results.Ranking(ranking=(document,), mode="listwise"), ["text"])
    assert json.loads(UNCERTAIN.model_dump_json())["certainty"] == 0.85
