"""Checks of an answer: all asked at once, and what becomes of the answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from intrinsics_core import InvalidInput, MalformedReply, run_many
from intrinsics_core.chains.checks import AnswerChecks, CheckedAnswer
from intrinsics_core.running.steps import run_steps

MILL = ["Ada Brink built the tide mill in 1911."]
RIGHT, WRONG = "Ada Brink built the tide mill in 1911.", "She painted it gold for forty sailors."


def judged(checks: AnswerChecks, answer: str, documents: Sequence[str] = MILL, **again: bool) -> CheckedAnswer:
    turns = [{"role": "user", "content": "Who built the tide mill?"}, {"role": "assistant", "content": answer}]
    return run_steps(checks.judge(turns, documents, **again), {"run": run_many})


def test_all_checks_are_one_batch() -> None:
    batches: list[int] = []

    def run(calls: list[Any]) -> list[Any]:
        batches.append(len(calls))
        return run_many(calls)

    checks = AnswerChecks(("hallucination_detection", "citations", "uncertainty"))
    turns = [{"role": "user", "content": "Who?"}, {"role": "assistant", "content": f"{RIGHT} {WRONG}"}]
    found = run_steps(checks.judge(turns, MILL), {"run": run})
    assert batches == [3] and list(found.dumped) == ["hallucination-detection", "citations", "uncertainty"]
    assert found.decision.act == "annotate"
    cited: Any = found.results["citations"]
    assert {c.response_text for c in cited.citations} == {RIGHT}  # nothing cites what is unfaithful


@pytest.mark.parametrize("check", ["audit", "hallucination-detection"])
def test_an_answer_is_blocked_or_asked_for_again(check: str) -> None:
    for mode, first, second in [
        ("annotate", "annotate", "annotate"),
        ("block", "replace", "replace"),
        ("retry", "retry", "annotate"),
        ("retry_then_block", "retry", "replace"),
    ]:
        checks = AnswerChecks(check, mode=mode)
        assert judged(checks, f"{RIGHT} {WRONG}").decision.act == first
        assert judged(checks, f"{RIGHT} {WRONG}", again=True).decision.act == second
        assert judged(checks, RIGHT).decision.act == "annotate"
    assert judged(checks, f"{RIGHT} {WRONG}").decision.unsupported == (WRONG,)


@pytest.mark.parametrize("check", ["audit", "hallucination-detection"])
def test_an_answer_that_nothing_was_retrieved_for(check: str) -> None:
    by = {name: AnswerChecks(check, mode="block", unretrieved=name) for name in ("annotate", "block", "pass")}
    assert judged(by["pass"], RIGHT, []) == CheckedAnswer(decision=judged(by["pass"], RIGHT, []).decision)
    found: Any = judged(by["annotate"], RIGHT, [])
    assert found.decision.act == "annotate" and found.results[check].degraded == "nothing retrieved"
    assert judged(by["block"], RIGHT, []).decision.act == "replace"
    assert judged(by["block"], "Hello!", []).decision.act == "annotate"
    found = judged(AnswerChecks(check), RIGHT, [])
    assert found.results[check].label == "NA"  # judged like any other


def test_options_go_to_their_check() -> None:
    checks = AnswerChecks("fact-check", options={"fact_check": {"top-k": 1}})
    found: Any = judged(checks, RIGHT, [*MILL, "Fog is common in May."]).results["fact-check"]
    assert [source.weight for source in found.sources] == [1, 0]


def test_what_is_unknown() -> None:
    wrong: list[dict[str, Any]] = [
        {"checks": "audits"},
        {"checks": ()},
        {"checks": "revise"},
        {"checks": "uncertainty", "mode": "block"},
        {"mode": "blocks"},
        {"labels": "wrong"},
        {"options": {"citations": {}}},
        {"checks": "fact-check", "options": {"fact-check": {"top": 1}}},
        {"on_error": "closed"},
    ]
    for settings in wrong:
        with pytest.raises(InvalidInput):
            AnswerChecks(**settings)


def test_a_check_that_fails() -> None:
    def fail(calls: list[Any]) -> list[Any]:
        return [MalformedReply("no JSON", intrinsic="audit") for _ in calls]

    turns = [{"role": "user", "content": "Who?"}, {"role": "assistant", "content": RIGHT}]
    found: Any = run_steps(AnswerChecks().judge(turns, MILL), {"run": fail})
    assert found.results["audit"].degraded and found.decision.act == "annotate"
    with pytest.raises(MalformedReply):
        run_steps(AnswerChecks(mode="block").judge(turns, MILL), {"run": fail})
