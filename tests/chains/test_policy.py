"""What becomes of an answer, for every mode, label and place that the verdict may have."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from intrinsics_core import InvalidInput, MalformedReply
from intrinsics_core.chains.policy import BY_NOTHING, BY_SOURCES, UNRETRIEVED, AnswerPolicy, Decision
from intrinsics_core.protocol.results import HallucinationDetection, SentenceVerdict
from intrinsics_core.running.steps import run_steps

TEXT = "Ada built it in 1935."


def verdict(label: Any, missing: int = 0, reason: str | None = None) -> HallucinationDetection:
    score = {"faithful": 0.9, "partial": 0.5, "unfaithful": 0.1}.get(label)
    row = SentenceVerdict(begin=0, end=len(TEXT), text=TEXT, label=label, score=score, explanation="")
    return HallucinationDetection(label=label, score=score, sentences=(row,), missing=missing, reason=reason)


def decide(
    policy: AnswerPolicy, found: Any, *, retrieved: bool = True, again: bool = False
) -> tuple[Decision, list[Any]]:
    asked: list[Any] = []

    def judge(given: Any) -> Any:
        asked.append(given)
        return found

    judged_by = {BY_SOURCES: "by sources", BY_NOTHING: "by nothing"}
    program = policy.decide(retrieved=retrieved, judged_by=judged_by, again=again)
    return run_steps(program, {"judge": judge}), asked


def policy(mode: str = "annotate", **settings: Any) -> AnswerPolicy:
    return AnswerPolicy(**({"mode": mode, "labels": ("unfaithful",), "unretrieved": "annotate"} | settings))


@pytest.mark.parametrize(
    ("mode", "first", "second"),
    [
        ("annotate", "annotate", "annotate"),
        ("block", "replace", "replace"),
        ("retry", "retry", "annotate"),
        ("retry_then_block", "retry", "replace"),
    ],
)
def test_an_unsupported_answer(mode: str, first: str, second: str) -> None:
    found = verdict("unfaithful")
    for again, act in ((False, first), (True, second)):
        decision, asked = decide(policy(mode), found, again=again)
        assert decision == Decision(act, found, (TEXT,)) and asked == ["by sources"]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("mode", "label"), list(product(["annotate", "block", "retry"], ["faithful", "partial", "NA"]))
)
def test_a_label_that_does_not_count_is_annotated(mode: str, label: str) -> None:
    assert decide(policy(mode), verdict(label))[0].act == "annotate"
    if label == "partial" and mode == "block":
        assert decide(policy(mode, labels=["partial"]), verdict(label))[0].act == "replace"


@pytest.mark.parametrize(("unretrieved", "label", "act", "calls"), [
    ("annotate", "unfaithful", "annotate", 0),
    ("pass", "unfaithful", "pass", 0),
    ("block", "unfaithful", "replace", 1),
    ("block", "NA", "annotate", 1),
])  # fmt: skip
def test_nothing_was_retrieved(unretrieved: str, label: str, act: str, calls: int) -> None:
    for mode in ("annotate", "block", "retry"):
        decision, asked = decide(policy(mode, unretrieved=unretrieved), verdict(label), retrieved=False)
        assert decision.act == act and asked == ["by nothing"] * calls
        assert decision.verdict == (None if act == "pass" else UNRETRIEVED)


def test_a_judge_that_failed_has_not_said_that_an_answer_claims_nothing() -> None:
    failed = verdict("NA").model_copy(update={"degraded": "RuntimeUnavailable: gone"})
    assert decide(policy(unretrieved="block"), failed, retrieved=False)[0].act == "replace"


def test_sentences_that_a_judge_left_out_let_nothing_through_where_the_answer_might_be_replaced() -> None:
    left_out = verdict("NA", missing=1)
    assert decide(policy(), left_out)[0].act == "annotate"
    assert decide(policy("block", on_error="fallback"), left_out)[0].act == "annotate"
    for mode in ("block", "retry", "retry_then_block"):
        with pytest.raises(MalformedReply, match="left sentences"):
            decide(policy(mode), left_out)


def test_a_setting_that_means_nothing_is_named_with_the_nearest() -> None:
    with pytest.raises(InvalidInput, match=r"mode is unknown \(did you mean 'block'"):
        policy("blok")
    with pytest.raises(InvalidInput, match="mode is unknown"):
        policy("retry", modes=("annotate", "block"))
    with pytest.raises(InvalidInput, match=r"labels is unknown \(did you mean 'unfaithful'"):
        policy(labels="unfaithfull")
    with pytest.raises(InvalidInput, match="unretrieved is unknown"):
        policy(unretrieved="drop")
    assert policy(labels="partial").labels == ["partial"]
