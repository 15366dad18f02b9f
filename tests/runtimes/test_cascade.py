"""A cascade: the first judge where it is sure, the second for the rest; each result says who decided."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from intrinsics_core import (
    InvalidInput,
    MalformedReply,
    answerability,
    as_runtime,
    audit,
    context_relevance,
    fact_check,
    hallucination_detection,
    run,
    run_many,
)
from intrinsics_core.calibration.fitting import calibrate
from intrinsics_core.intrinsics import query_rewrite, reranking
from intrinsics_core.protocol.requests import Generate
from intrinsics_core.runtimes.cascade import Cascade
from intrinsics_core.runtimes.mixed import Mixed
from tests.scripted import Scripted
from tests.tide_mill import ASKED, DOCUMENTS, answered

ANSWERED = answered("Ada Brink built it in 1911.")
SCHOOL = "The school has a band."


def judge(**said: Any) -> Scripted:
    """A judge that says this of everything, by the title of the schema that it is asked for."""

    def reply(request: Generate) -> Any:
        fields = request.constraint.schema["properties"]  # type: ignore[union-attr]
        return {name: said[name] for name in fields if name in said}

    return Scripted(reply)


def gate(label: str, confidence: float) -> Scripted:
    return judge(answerability=label, confidence=confidence)


def test_the_first_judge_decides_where_it_is_sure() -> None:
    second = gate("unanswerable", 0.9)
    found = run(answerability(ASKED, DOCUMENTS), Cascade(as_runtime("embedded"), second))
    assert (found.label, found.by, second.requests) == ("answerable", "first", [])
    assert found.model_dump(mode="json")["by"] == "first"


def test_the_second_decides_where_the_first_is_unsure() -> None:
    embedded = as_runtime({"kind": "embedded", "thresholds": {"answerability": {"answerable": 0.999}}})
    second = gate("answerable", 0.9)
    found = run(answerability(ASKED, DOCUMENTS), Cascade(embedded, second))
    assert (found.label, found.probability, found.by) == ("answerable", 0.9, "then")
    assert found.usage.requests == 1 and not found.unsure


def test_the_band_of_a_calibration_says_what_is_unsure() -> None:
    examples = [i / 20 for i in range(20)]
    fitted = calibrate_scores(examples)
    low, high = fitted.band
    for stated, by in ((0.05, "first"), ((fitted.threshold), "then"), (0.99, "first")):
        raw = next(x / 1000 for x in range(1001) if fitted.apply(x / 1000) >= min(stated, fitted.apply(1.0)))
        first = gate("answerable", max(0.5, raw)) if raw >= 0.5 else gate("unanswerable", 1 - raw)
        first.calibrate_by({"answerability": fitted})
        found = run(answerability(ASKED, DOCUMENTS), Cascade(first, gate("answerable", 1.0)))
        assert (found.by == "then") == (low <= fitted.apply(raw) < high), (raw, by)


def test_each_document_is_decided_by_itself() -> None:
    asked = [*DOCUMENTS, SCHOOL]
    labels = {"Ada": ("relevant", 0.9), "Fog": ("partially relevant", 0.6), "school": ("irrelevant", 0.9)}

    def first(request: Generate) -> Any:
        text = request.messages[-1].content  # type: ignore[index]
        label, confidence = next(said for word, said in labels.items() if word in text.split("</data>")[0])
        return {"context_relevance": label, "confidence": confidence}

    second = judge(context_relevance="irrelevant", confidence=0.95)
    found = run(context_relevance(ASKED, asked), Cascade(Scripted(first), second))
    assert [row.by for row in found.judgements] == ["first", "then", "first"]
    assert [row.index for row in found.judgements] == [0, 1, 2] and len(second.requests) == 1
    assert found.judgements[1].label == "irrelevant"


def test_a_response_and_the_parts_of_an_audit() -> None:
    def says(request: Generate) -> Any:
        names = request.constraint.schema["properties"]  # type: ignore[union-attr]
        rows = [{"id": "r0", "reason": "It says so.", "faithfulness": "faithful"}]
        return {"sentences": rows} if "sentences" in names else {"answerability": "answerable", "confidence": 0.8}

    second = Scripted(says)
    runtime = Cascade(Scripted({}), second)
    found = run(hallucination_detection(ANSWERED, DOCUMENTS), runtime)
    assert (found.label, found.by) == ("faithful", "then")
    whole = run(audit(ANSWERED, DOCUMENTS), Cascade(as_runtime("embedded"), second))
    assert whole.by == "first" and whole.answerability.by == "first" and whole.hallucination.by == "first"
    whole = run(audit(ANSWERED, DOCUMENTS), runtime)
    assert whole.by == "then" and whole.answerability.by == "then" and whole.label == "faithful"
    assert {request.intrinsic for request in second.requests} == {"hallucination-detection", "audit"}


def test_a_fact_check_is_decided_as_a_whole() -> None:
    def checker(supported: str, confidence: float) -> Scripted:
        return judge(context_relevance="relevant", supported=supported, confidence=confidence)

    second = checker("no", 0.99)
    sure = run(fact_check(ANSWERED, DOCUMENTS), Cascade(checker("yes", 0.97), second))
    assert sure.by == "first" and sure.score == pytest.approx(0.97) and not second.requests
    unsure = run(fact_check(ANSWERED, DOCUMENTS), Cascade(checker("yes", 0.6), second))
    assert unsure.by == "then" and unsure.score == pytest.approx(0.01)


def test_a_second_judge_that_fails_leaves_the_first_verdict_and_says_so() -> None:
    first = judge(context_relevance="partially relevant", supported="yes", confidence=0.6)
    kept = run(fact_check(ANSWERED, DOCUMENTS), Cascade(first, Scripted([])))
    assert kept.by == "first" and kept.score == pytest.approx(0.6)
    assert kept.degraded == "the second judge failed: RuntimeUnavailable: the script has no reply left"
    judged = run(context_relevance(ASKED, DOCUMENTS), Cascade(first, Scripted([])))
    assert [(row.label, row.by) for row in judged.judgements] == [("partially relevant", "first")] * 2
    assert judged.missing == 0 and judged.degraded.count(kept.degraded) == 2
    assert run(reranking(ASKED, DOCUMENTS, mode="pointwise"), Cascade(first, Scripted([]))).degraded == kept.degraded
    with pytest.raises(MalformedReply):
        run(answerability(ASKED, DOCUMENTS), Cascade(Scripted([]), Scripted(lambda request: "no JSON")))


def test_what_one_alone_serves_is_asked_of_that_one_and_other_verdicts_of_the_first() -> None:
    second = judge(rewritten_question="Who built the tide mill?")
    assert run(query_rewrite(ASKED), Cascade(as_runtime("embedded"), second)).query and not second.requests
    from intrinsics_core.intrinsics import hyde

    told = run(hyde(ASKED), Cascade(as_runtime("embedded"), judge(passage="Ada Brink built it.")))
    assert told.passage == "Ada Brink built it."


def test_equal_requests_reach_two_judges() -> None:
    unsure, sure = (judge(context_relevance="partially relevant", confidence=c) for c in (0.5, 0.9))
    found = run(context_relevance(ASKED, DOCUMENTS[:1]), Cascade(unsure, sure))
    assert found.judgements[0].by == "then"
    assert unsure.requests == sure.requests and type(unsure.requests[0]) is Generate


def test_cascades_nest_and_stand_in_routes() -> None:
    inner = Cascade(Scripted([]), gate("unanswerable", 0.8))
    found = run(answerability(ASKED, DOCUMENTS), Cascade(Scripted([]), inner))
    assert (found.label, found.by) == ("unanswerable", "then.then")
    assert run(answerability(ASKED, DOCUMENTS), Cascade(inner, Scripted([]))).by == "first.then"
    routed = Mixed({"answerability": inner, "*": as_runtime("embedded")})
    assert run(answerability(ASKED, DOCUMENTS), routed).by == "then"
    whole = run(audit(ANSWERED, DOCUMENTS), routed)
    assert whole.answerability.by == "then" and whole.by is None and whole.label != "NA"
    mixed = Cascade(Mixed({"answerability": Scripted([]), "*": as_runtime("embedded")}), inner)
    told = run_many([answerability(ASKED, DOCUMENTS), hallucination_detection(ANSWERED, DOCUMENTS)], mixed)
    assert [each.by for each in told] == ["then.then", "first"]


def test_one_config(tmp_path: Any) -> None:
    (tmp_path / "replies.json").write_text('[{"answerability": "answerable", "confidence": 0.8}]')
    config = {"kind": "cascade", "first": {"kind": "scripted", "replies": str(tmp_path / "replies.json")}}
    assert run(answerability(ASKED, DOCUMENTS), as_runtime(config | {"then": "embedded"})).by == "first"
    with pytest.raises(InvalidInput, match=r"runtime\.then: runtime\.kind is unknown"):
        as_runtime(config | {"then": {"kind": "oracle"}})
    with pytest.raises(InvalidInput, match="lacks 'then'"):
        as_runtime(config)
    with pytest.raises(InvalidInput, match="two judges"):
        as_runtime(config | {"then": "embedded"}).calibrate_by({"answerability": calibrate_scores([0.0, 1.0] * 10)})


def test_it_travels() -> None:
    again = pickle.loads(pickle.dumps(Cascade(as_runtime("embedded"), as_runtime("embedded"))))  # noqa: S301  (our own)
    assert run(answerability(ASKED, DOCUMENTS), again).by == "first"


def calibrate_scores(scores: list[float]) -> Any:
    """Fitted to scores of which the higher half is true."""
    return calibrate(scores, [score >= 0.45 for score in scores])
