"""What a judge left out is told, and never taken for the best case."""

from __future__ import annotations

import json
from typing import Any

import pytest

from intrinsics_core import (
    MalformedReply,
    RuntimeUnavailable,
    as_runtime,
    audit,
    citations,
    context_relevance,
    evaluate,
    fact_check,
    hallucination_detection,
    reranking,
    revise,
    run,
)
from intrinsics_core.calibration.fitting import calibrate
from intrinsics_core.profiles.asking import data_of
from intrinsics_core.runtimes import Scripted
from intrinsics_core.runtimes.mixed import Mixed

ANSWER = [
    {"role": "user", "content": "Who built the mill?"},
    {"role": "assistant", "content": "Ada built it. It is gold."},
]
DOCUMENTS = ["Ada built it."]
GRANITE_33 = '[{"i": 0, "r": "", "f": "faithful"}]'
SKIPPED = {
    "granite-3.3": GRANITE_33,
    "granite-3.2": '{"<r0>": "0.9-1.0"}',
}


def one(number: int, label: str) -> str:
    return json.dumps({"sentences": [{"id": f"r{number}", "reason": "", "faithfulness": label}]})


@pytest.mark.parametrize("profile", SKIPPED)
def test_a_sentence_that_an_adapter_skipped_is_missing(profile: str) -> None:
    found = run(hallucination_detection(ANSWER, DOCUMENTS), Scripted([SKIPPED[profile]]), profile=profile)
    assert (found.label, found.score, found.missing) == ("NA", None, 1)
    assert found.degraded == "1 of 2 sentences were not judged"
    assert [s.judged for s in found.sentences] == [True, False]
    dumped = found.model_dump(mode="json")
    assert (
        dumped["missing"] == 1 and dumped["sentences"][1]["judged"] is False and "judged" not in dumped["sentences"][0]
    )


def test_a_worse_verdict_stands() -> None:
    found = run(hallucination_detection(ANSWER, DOCUMENTS),
                Scripted(['[{"i": 1, "r": "No gold.", "f": "unfaithful"}]']), profile="granite-3.3")  # fmt: skip
    assert (found.label, found.score, found.missing) == ("unfaithful", 0.0, 1)


def test_a_prompted_model_is_asked_once_more_for_the_missing_one_alone() -> None:
    runtime = Scripted([one(0, "faithful"), one(1, "unfaithful")])
    found = run(hallucination_detection(ANSWER, DOCUMENTS), runtime, profile="prompted")
    assert [s.label for s in found.sentences] == ["faithful", "unfaithful"]
    assert (found.label, found.missing, found.degraded) == ("unfaithful", 0, None)
    shown = data_of(runtime.requests[1].messages[-1].content)
    assert shown["response"] == {"r1": "It is gold."}
    schema = runtime.requests[1].constraint.schema["properties"]["sentences"]
    assert (schema["minItems"], schema["maxItems"]) == (1, 1)
    assert schema["items"]["properties"]["id"]["enum"] == ["r1"]


def test_what_it_still_leaves_out_is_missing() -> None:
    found = run(hallucination_detection(ANSWER, DOCUMENTS), Scripted([one(0, "faithful"), '{"sentences": []}']),
                profile="prompted")  # fmt: skip
    assert (found.label, found.score, found.missing) == ("NA", None, 1)


@pytest.mark.parametrize("second", ["no JSON at all", RuntimeError("gone")])
def test_a_second_request_that_fails_costs_nothing_that_was_judged(second: object) -> None:
    found = run(hallucination_detection(ANSWER, DOCUMENTS), Scripted([one(0, "faithful"), second]), profile="prompted")
    assert [s.label for s in found.sentences] == ["faithful", "NA"] and found.missing == 1


@pytest.mark.parametrize(
    ("second", "told"),
    [
        (RuntimeUnavailable("too many requests (429)"), "RuntimeUnavailable: too many requests (429)"),
        ("no JSON at all", "MalformedReply: "),
        (one(2, "faithful"), "MalformedReply: the ids in the reply are 2 in place of 1"),
        (one(0, "unfaithful"), "MalformedReply: the ids in the reply are 0 in place of 1"),
    ],
)
def test_what_failed_when_the_missing_ones_were_asked_for_is_told(second: object, told: str) -> None:
    found = run(hallucination_detection(ANSWER, DOCUMENTS), Scripted([one(0, "faithful"), second]), profile="prompted")
    assert [s.label for s in found.sentences] == ["faithful", "NA"] and found.missing == 1
    assert found.degraded.startswith(f"1 of 2 sentences were not judged ({told}")


def test_what_was_judged_is_not_judged_anew() -> None:
    both = json.dumps({"sentences": [{"id": f"r{i}", "reason": "", "faithfulness": "unfaithful"} for i in (0, 1)]})
    found = run(hallucination_detection(ANSWER, DOCUMENTS), Scripted([one(0, "faithful"), both]), profile="prompted")
    assert [s.label for s in found.sentences] == ["faithful", "unfaithful"] and (found.dropped, found.missing) == (1, 0)


def rows(*labels: object, start: int = 0, key: str = "r") -> dict[str, object]:
    listed = [{"id": f"{key}{start + i}", "reason": "", "faithfulness": label} for i, label in enumerate(labels)]
    return {"sentences": listed}


@pytest.mark.parametrize("label", ["Mostly faithful", "not supported", "", "yes", 0.9])
def test_a_label_that_cannot_be_read_costs_its_own_sentence_which_is_asked_for_again(label: object) -> None:
    judge = Scripted([rows(label, "unfaithful"), one(0, "partial")])
    found = run(hallucination_detection(ANSWER, DOCUMENTS), judge, profile="prompted")
    assert [s.label for s in found.sentences] == ["partial", "unfaithful"] and found.missing == 0
    assert data_of(judge.requests[1].messages[-1].content)["response"] == {"r0": "Ada built it."}


@pytest.mark.parametrize("label", ["faithful", "**faithful**", "Faithful.", "`faithful`", "_Faithful_"])
def test_a_label_that_can_be_read_costs_no_request(label: str) -> None:
    judge = Scripted([rows(label, "N/A")])
    found = run(hallucination_detection(ANSWER, DOCUMENTS), judge, profile="prompted")
    assert [s.label for s in found.sentences] == ["faithful", "NA"]
    assert (found.label, found.missing, len(judge.requests)) == ("faithful", 0, 1)


@pytest.mark.parametrize("labels", [("faithful", "unfaithful"), ("unfaithful", "faithful"), ("NA", "unfaithful")])
def test_the_worst_of_several_verdicts_on_a_sentence_counts(labels: tuple[str, str]) -> None:
    reply = {"sentences": [*rows("faithful")["sentences"], *rows(labels[0], start=1)["sentences"],
                           *rows(labels[1], start=1)["sentences"]]}  # fmt: skip
    found = run(hallucination_detection(ANSWER, DOCUMENTS), Scripted([reply]), profile="prompted")
    assert [s.label for s in found.sentences] == ["faithful", "unfaithful"]
    assert (found.label, found.dropped, found.missing) == ("unfaithful", 1, 0)


# --- numbers that are not those that were shown -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "ids", [["r1", "r2"], ["1", "2"], [1, 2], ["<r1>", "<r2>"], ["r2"], ["r2", "r1"], ["r1", "r2", "r3"]]
)
def test_sentences_that_are_numbered_from_one_are_asked_for_again(ids: list[object]) -> None:
    moved = {"sentences": [{"id": i, "reason": "", "faithfulness": "faithful"} for i in ids]}
    found = run(hallucination_detection(ANSWER, DOCUMENTS), Scripted([moved, rows("faithful", "unfaithful")]),
                profile="prompted")  # fmt: skip
    assert [s.label for s in found.sentences] == ["faithful", "unfaithful"] and found.dropped == 0
    with pytest.raises(MalformedReply, match="numbered from"):
        run(hallucination_detection(ANSWER, DOCUMENTS), Scripted([moved] * 2), profile="prompted")


@pytest.mark.parametrize("ids", [["r0", "r1", "r2"], ["r0", "r1", "r99"], ["r1", "r0"], ["r0", "r1", "x"], [0, 1, -1]])
def test_an_id_too_many_is_dropped_by_itself(ids: list[object]) -> None:
    said = {"sentences": [{"id": i, "reason": "", "faithfulness": "partial"} for i in ids]}
    judge = Scripted([said])
    found = run(hallucination_detection(ANSWER, DOCUMENTS), judge, profile="prompted")
    assert [s.label for s in found.sentences] == ["partial"] * 2
    assert (found.dropped, len(judge.requests)) == (len(ids) - 2, 1)


@pytest.mark.parametrize(
    ("call", "profile", "reply"),
    [
        (
            citations,
            "prompted",
            {"citations": [{"response": "r1", "sources": ["c0"]}, {"response": "r2", "sources": []}]},
        ),
        (citations, "granite-3.3", [{"r": 1, "c": [0]}, {"r": 2, "c": []}]),
        (citations, "granite-3.2", {"<r1>": ["<c0>"], "<r2>": []}),
        (hallucination_detection, "granite-3.3", [{"i": 1, "r": "", "f": "faithful"}, {"i": 2, "r": "", "f": "NA"}]),
        (hallucination_detection, "granite-3.2", {"<r1>": "0.9-1.0", "<r2>": "0.0-0.1"}),
    ],
)
def test_no_profile_moves_what_is_said_of_a_sentence_to_the_next_one(call: Any, profile: str, reply: Any) -> None:
    with pytest.raises(MalformedReply, match="numbered from 1"):
        run(call(ANSWER, DOCUMENTS), Scripted([reply] * 2), profile=profile)


def test_documents_that_are_numbered_from_one_are_asked_for_again() -> None:
    found = run(
        reranking(ASKED, PASSAGES), Scripted([{"ranking": [2, 3, 1]}, {"ranking": [1, 2, 0]}]), profile="prompted"
    )
    assert [row.index for row in found.ranking] == [1, 2, 0] and (found.dropped, found.missing) == (0, 0)
    found = run(reranking(ASKED, PASSAGES), Scripted([{"ranking": ["d1", "d3", "d0"]}]), profile="prompted")
    assert [row.index for row in found.ranking] == [1, 0, 2] and (found.dropped, found.missing) == (1, 1)


# --- sources that are not told ----------------------------------------------------------------------------------------


def test_a_sentence_that_the_citations_leave_out_is_missing_and_one_without_sources_is_not() -> None:
    first, second = {"response": "r0", "sources": ["c0"]}, {"response": "r1", "sources": []}
    for listed, missing in (([first, second], 0), ([first], 1), ([], 2)):
        judge = Scripted([{"citations": listed}])
        found = run(citations(ANSWER, DOCUMENTS), judge, profile="prompted")
        assert (found.missing, len(found.citations), len(judge.requests)) == (missing, first in listed, 1)
        assert (found.degraded is None) is (missing == 0)


def test_no_verdicts_at_all_say_so() -> None:
    found = run(hallucination_detection(ANSWER, DOCUMENTS), Scripted(['{"sentences": []}'] * 2), profile="prompted")
    assert (found.label, found.missing, found.degraded) == ("NA", 2, "2 of 2 sentences were not judged")


def test_an_audit_carries_it() -> None:
    runtime = Scripted(lambda request: GRANITE_33 if request.intrinsic == "audit" else "{}")
    found = run(audit(ANSWER, DOCUMENTS), runtime, profile="granite-3.3")
    assert (found.label, found.score, found.missing) == ("NA", None, 1)
    assert "1 of 2 sentences were not judged" in (found.degraded or "")
    assert found.hallucination.missing == 1


def test_an_evaluation_gives_no_rating() -> None:
    runtime = Scripted(lambda request: "[]" if request.adapter == "citations" else GRANITE_33)
    found = run(evaluate(ANSWER, DOCUMENTS, metrics="faithfulness"), runtime, profile="granite-3.3")
    (metric,) = found.metrics
    assert (metric.rating, metric.score, metric.reason) == (None, None, "1 of 2 sentences were not judged")
    assert found.missing == 1


def test_a_revision_names_what_was_not_judged() -> None:
    found = run(revise(ANSWER, DOCUMENTS), Scripted(lambda _: GRANITE_33), profile="granite-3.3")
    assert found.answer == "Ada built it. It is gold." and not found.changes and not found.unsupported
    assert [s.text for s in found.unjudged] == ["It is gold."] and found.missing == 1


def test_a_calibration_makes_no_faithful_of_it() -> None:
    lenient = calibrate([i / 20 for i in range(20)], [i > 5 for i in range(20)])
    runtime = Scripted(['[{"i": 1, "r": "", "f": "partial"}]']).calibrate_by({"hallucination-detection": lenient})
    found = run(hallucination_detection(ANSWER, DOCUMENTS), runtime, profile="granite-3.3")
    assert found.label == "partial" and found.missing == 1


def test_what_was_never_asked_is_not_missing() -> None:
    nothing = run(hallucination_detection(ANSWER, []), Scripted([]), profile="prompted")
    assert (nothing.label, nothing.missing, nothing.reason) == ("NA", 0, "nothing retrieved")
    unserved = run(audit(ANSWER, DOCUMENTS), Mixed({"answerability": as_runtime(None)}))
    assert (unserved.label, unserved.missing) == ("NA", 0) and "hallucination-detection" in (unserved.reason or "")


def test_a_judge_that_failed_leaves_all_sentences_missing() -> None:
    down = Scripted([RuntimeUnavailable("down")] * 9)
    alone = run(hallucination_detection(ANSWER, DOCUMENTS, on_error="fallback"), down, profile="prompted")
    part = run(audit(ANSWER, DOCUMENTS), Mixed({"hallucination-detection": down, "*": as_runtime(None)}))
    whole = run(audit(ANSWER, DOCUMENTS, on_error="fallback"), down, profile="prompted")
    for found in (alone, part, whole):
        assert (found.label, found.score, found.missing) == ("NA", None, 2)
        assert not any(s.judged for s in found.sentences) and "down" in (found.degraded or "")
    assert part.answerability and "not judged" not in (part.degraded or "")


# --- the other intrinsics that judge a list: their docstrings say what a missing item becomes ------------------------

ASKED = ANSWER[:1]
PASSAGES = ["Fog is common.", "Ada built the mill.", "The mill is old."]
DOWN = RuntimeUnavailable("down")


def test_a_document_that_a_list_leaves_out_comes_last_and_is_counted() -> None:
    found = run(reranking(ASKED, PASSAGES), Scripted(['["d2", "d1"]']), profile="prompted")
    assert [row.index for row in found.ranking] == [2, 1, 0] and found.missing == 1
    assert found.model_dump(mode="json")["missing"] == 1
    both = Scripted(['["d2", "d1"]', '["d2", "d1"]'])  # the second list is shown the other way round: d2 is the first
    found = run(reranking(ASKED, PASSAGES, both_orders=True), both, profile="prompted")
    assert found.missing == 0
    found = run(reranking(ASKED, PASSAGES), Scripted(['["d2", "d1", "d0"]']), profile="prompted")
    assert found.missing == 0 and "missing" not in found.model_dump()


def test_a_document_whose_judgement_failed_keeps_its_place_and_is_counted() -> None:
    def judged(request: Any) -> Any:
        return DOWN if "Fog" in str(request) else {"context_relevance": "relevant", "confidence": 0.5}

    found = run(reranking(ASKED, PASSAGES, mode="pointwise", on_error="fallback"), Scripted(judged), profile="prompted")
    assert (found.ranking[0].index, found.ranking[0].score, found.missing) == (0, None, 1)
    kept = run(context_relevance(ASKED, PASSAGES, on_error="fallback"), Scripted(judged), profile="prompted")
    assert (kept.judgements[0].label, kept.judgements[0].score, kept.missing) == ("relevant", None, 1)
    with pytest.raises(RuntimeUnavailable):
        run(context_relevance(ASKED, PASSAGES), Scripted(judged), profile="prompted")


def test_a_metric_that_was_not_rated_is_counted_and_has_no_rating() -> None:
    rated = {"explanation": "All of it.", "statements": [], "rating": "yes", "confidence": 0.9}
    call = evaluate(ANSWER, DOCUMENTS, metrics="completeness,coherence", on_error="fallback")
    found = run(call, Scripted([rated, DOWN]), profile="prompted")
    assert [m.rating for m in found.metrics] == ["yes", None] and found.missing == 1
    assert found.metrics[0].statements == ()  # none that was left out is made up, and none is missed


def test_a_claim_that_was_not_checked_leaves_no_score() -> None:
    def checked(request: Any) -> Any:
        if "context_relevance" in str(request.constraint):
            return {"context_relevance": "relevant", "confidence": 0.9}
        return DOWN if "gold" in str(request.messages) else {"supported": "yes", "confidence": 0.9}

    judge = Scripted(checked)
    alone = [ANSWER[0], {"role": "assistant", "content": "Ada built it."}]
    assert run(fact_check(alone, DOCUMENTS), judge, profile="prompted").score == 0.9
    with pytest.raises(RuntimeUnavailable):
        run(fact_check(ANSWER, DOCUMENTS), judge, profile="prompted")
    found = run(fact_check(ANSWER, DOCUMENTS, on_error="fallback"), judge, profile="prompted")
    assert (found.score, found.claims) == (None, ()) and "down" in (found.degraded or "")


@pytest.mark.parametrize("intrinsic", [context_relevance, reranking, evaluate, fact_check, hallucination_detection])
def test_the_docstring_says_what_a_missing_item_becomes(intrinsic: Any) -> None:
    told = " ".join((intrinsic.__doc__ or "").split())
    assert any(words in told for words in ("``missing`` counts", "counted as ``missing``", "without a score: no mean"))
