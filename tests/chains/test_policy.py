"""What becomes of an answer, for every mode, label and place that the verdict may have."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from intrinsics_core import InvalidInput, MalformedReply
from intrinsics_core.chains.policy import UNRETRIEVED, AnswerPolicy, Decision
from intrinsics_core.protocol.results import HallucinationDetection, SentenceVerdict

TEXT = "Ada built it in 1935."


def verdict(label: Any, missing: int = 0, reason: str | None = None) -> HallucinationDetection:
    score = {"faithful": 0.9, "partial": 0.5, "unfaithful": 0.1}.get(label)
    row = SentenceVerdict(begin=0, end=len(TEXT), text=TEXT, label=label, score=score, explanation="")
    return HallucinationDetection(label=label, score=score, sentences=(row,), missing=missing, reason=reason)


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
        decision = policy(mode).decide(found, again=again)
        assert decision == Decision(act, found, (TEXT,))  # type: ignore[arg-type]
    assert decision.feedback.splitlines()[1] == f"- {TEXT}"


@pytest.mark.parametrize(
    ("mode", "label"), list(product(["annotate", "block", "retry"], ["faithful", "partial", "NA"]))
)
def test_a_label_that_does_not_count_is_annotated(mode: str, label: str) -> None:
    assert policy(mode).decide(verdict(label)).act == "annotate"
    if label == "partial" and mode == "block":
        assert policy(mode, labels=["partial"]).decide(verdict(label)).act == "replace"


@pytest.mark.parametrize(("unretrieved", "label", "act"), [
    ("annotate", "unfaithful", "annotate"),
    ("pass", "unfaithful", "pass"),
    ("block", "unfaithful", "replace"),
    ("block", "NA", "annotate"),
])  # fmt: skip
def test_nothing_was_retrieved(unretrieved: str, label: str, act: str) -> None:
    for mode in ("annotate", "block", "retry"):
        decision = policy(mode, unretrieved=unretrieved).decide_unretrieved(verdict(label))
        assert decision.act == act
        assert decision.verdict == (None if act == "pass" else UNRETRIEVED)


def test_a_judge_that_failed_has_not_said_that_an_answer_claims_nothing() -> None:
    failed = verdict("NA").model_copy(update={"degraded": "RuntimeUnavailable: gone"})
    assert policy(unretrieved="block").decide_unretrieved(failed).act == "replace"


def test_sentences_that_a_judge_left_out_let_nothing_through_where_the_answer_might_be_replaced() -> None:
    left_out = verdict("NA", missing=1)
    assert policy().decide(left_out).act == "annotate"
    assert policy("block", on_error="fallback").decide(left_out).act == "annotate"
    for mode in ("block", "retry", "retry_then_block"):
        with pytest.raises(MalformedReply, match="left sentences"):
            policy(mode).decide(left_out)


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
