"""What a model is told of a result says no more than the result does."""

from __future__ import annotations

from typing import Any

import pytest

from intrinsics_core import MalformedReply, answerability, audit, fact_check, query_rewrite, run
from intrinsics_core.protocol.results import Citations
from intrinsics_core.service import short_results
from tests.scripted import Scripted

DOCUMENTS = ["The tide mill was built in 1911 by Ada Brink. It ground flour until 1958."]
ANSWERED = [
    {"role": "user", "content": "Who built the tide mill?"},
    {"role": "assistant", "content": "Ada Brink built the tide mill in 1911. It ground flour until 1958."},
]
GATE = {
    "answerability": "answerable",
    "confidence": 0.9,
    "answers_question": "yes",
    "correct": "yes",
    "certainty": 0.95,
}


def row(number: int, label: str) -> dict[str, Any]:
    return {"id": f"r{number}", "reason": "", "faithfulness": label, "sources": ["c0"] if label == "faithful" else []}


def told(*rows: dict[str, Any]) -> str:
    """The words about a judge that gives these verdicts on the sentences, and no others when it is asked again."""
    judge = Scripted(lambda request: GATE | {"sentences": list(rows)})
    return short_results.audit(run(audit(ANSWERED, DOCUMENTS), judge))


def test_a_judge_that_gave_no_verdict_did_not_find_that_nothing_is_claimed() -> None:
    said = told(row(0, "perhaps"))
    assert said.startswith("The judge gave no verdict on the answer.\n")
    assert "claims anything" not in said and "supported" not in said and "Degraded" in said


def test_a_sentence_without_a_verdict_is_not_among_all_that_are_supported() -> None:
    said = told(row(0, "faithful"))
    assert said.startswith("1 sentence is supported by the documents.\nThe judge gave no verdict on 1 sentence:\n- ")
    assert '"It ground flour until 1958."' in said and "All" not in said and "Degraded" in said


def test_a_sentence_without_a_verdict_is_named_beside_one_that_does_not_hold() -> None:
    said = told(row(0, "unfaithful"))
    assert said.startswith("1 of 1 sentence is not fully supported by the documents:")
    assert "The judge gave no verdict on 1 sentence:" in said


def test_an_answer_that_was_judged_without_a_question_is_not_unjudged() -> None:
    greeting = [{"role": "assistant", "content": "Hello! How can I help?"}]
    said = short_results.audit(run(audit(greeting, DOCUMENTS)))
    assert said.startswith("No sentence of the answer claims anything") and "Reason: no question" in said
    assert short_results.audit(run(audit(ANSWERED, []))) == "Nothing was judged: nothing retrieved."


def test_a_question_that_leans_on_the_turns_before_is_not_called_standalone() -> None:
    turns = [*ANSWERED, {"role": "user", "content": "And when?"}]
    left = short_results.rewrite(run(query_rewrite(turns)))
    assert left.startswith("The question was left as it is: And when?\nFor a search: And when? (")
    alone = short_results.rewrite(run(query_rewrite(turns[:1])))
    assert alone == "The question is already standalone: Who built the tide mill?"


def test_a_turn_that_asks_nothing_is_not_called_answered() -> None:
    thanks = run(answerability([{"role": "user", "content": "Thanks!"}], []))
    assert short_results.answerability(thanks) == (
        "There is no question that documents could answer: the last turn asks nothing of the documents."
    )
    failed = run(answerability(ANSWERED[:1], DOCUMENTS, on_error="open"), Scripted(lambda request: MalformedReply("?")))
    assert short_results.answerability(failed).startswith("It is not known whether the documents answer the question.")
    found = run(answerability(ANSWERED[:1], DOCUMENTS))
    assert short_results.answerability(found).startswith("The documents answer the question (probability")


def test_a_whole_audit_is_told_as_before() -> None:
    assert told(row(0, "faithful"), row(1, "faithful")).startswith("All 2 sentences are supported by the documents.")
    assert told(row(0, "NA"), row(1, "NA")).startswith("No sentence of the answer claims anything")
    said = told(row(0, "faithful"), row(1, "unfaithful"))
    assert said.startswith("1 of 2 sentences are not fully supported by the documents:") and "no verdict" not in said


def test_a_fact_check_that_failed_did_not_find_that_there_is_no_claim() -> None:
    failed = run(fact_check(ANSWERED, DOCUMENTS, on_error="fallback"), Scripted(lambda request: MalformedReply("odd")))
    assert short_results.facts(failed).startswith("Nothing was judged: no verdict was given.\nDegraded")
    silent = run(fact_check([*ANSWERED[:1], {"role": "assistant", "content": "Hello!"}], DOCUMENTS))
    assert short_results.facts(silent) == "Nothing was judged: nothing claimed."


@pytest.mark.parametrize("degraded", [None, "1 of 2 sentences has no row"])
def test_citations_that_are_not_known_are_not_citations_that_are_not_there(degraded: str | None) -> None:
    said = short_results.citations(Citations(citations=(), degraded=degraded))
    assert said.startswith("No citation was found." if degraded else "Nothing in the documents supports a sentence")
