"""What a judge left out is told, and never taken for the best case."""

from __future__ import annotations

import json

import pytest

from intrinsics_core import audit, evaluate, hallucination_detection, revise, run
from intrinsics_core.calibration.fitting import calibrate
from intrinsics_core.profiles.asking import data_of
from intrinsics_core.runtimes import Scripted

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
    assert found.degraded == "1 of 2 sentences not judged"
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


def test_no_verdicts_at_all_say_so() -> None:
    found = run(hallucination_detection(ANSWER, DOCUMENTS), Scripted(['{"sentences": []}'] * 2), profile="prompted")
    assert (found.label, found.missing, found.degraded) == ("NA", 2, "2 of 2 sentences not judged")


def test_an_audit_carries_it() -> None:
    runtime = Scripted(lambda request: GRANITE_33 if request.intrinsic == "audit" else "{}")
    found = run(audit(ANSWER, DOCUMENTS), runtime, profile="granite-3.3")
    assert (found.label, found.score, found.missing) == ("NA", None, 1)
    assert "1 of 2 sentences not judged" in (found.degraded or "")
    assert found.hallucination.missing == 1


def test_an_evaluation_gives_no_rating() -> None:
    runtime = Scripted(lambda request: "[]" if request.adapter == "citations" else GRANITE_33)
    found = run(evaluate(ANSWER, DOCUMENTS, metrics="faithfulness"), runtime, profile="granite-3.3")
    (metric,) = found.metrics
    assert (metric.rating, metric.score, metric.reason) == (None, None, "1 of 2 sentences not judged")
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
    failed = run(
        hallucination_detection(ANSWER, DOCUMENTS, on_error="fallback"), Scripted(["?"] * 2), profile="prompted"
    )
    assert (failed.label, failed.missing) == ("NA", 0) and failed.degraded
