"""User messages in a row with no answer between: what is added to a question is read with it."""

from __future__ import annotations

import pytest

from intrinsics_core import answerability, audit, query_rewrite, run
from intrinsics_core.embedded.query.one_turn import as_one_turn

LIDO = ["The lido is open from 9 a.m. to 8 p.m. A day ticket costs 6 euros for adults and 3 euros for children."]
PRICE = "What does a day ticket cost?"


def said(*texts: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": text} for text in texts]


@pytest.mark.parametrize(
    "texts",
    [
        (PRICE, "Please be quick"),
        (PRICE, "??"),
        (PRICE, "For adults"),
        (PRICE, "two adults"),
        (PRICE, "My kids are small"),
        (PRICE, "I'm in a hurry", "Thanks!"),
        (PRICE, "Hello?"),
        ("Hi", "Please be quick", PRICE),
    ],
)
def test_what_is_added_does_not_hide_the_question(texts: tuple[str, ...]) -> None:
    found = run(answerability(said(*texts), LIDO))
    assert found.label == "answerable" and found.probability is not None
    assert PRICE in run(query_rewrite(said(*texts))).query


@pytest.mark.parametrize("added", ["Please be quick", "Thanks!", "My name is Tom"])
def test_an_open_question_is_stopped_whatever_is_added(added: str) -> None:
    assert run(answerability(said("How many cats live in the town hall?", added), LIDO)).label == "unanswerable"


def test_the_answer_is_one_to_the_question() -> None:
    for answer, label in (("6 euros.", "faithful"), ("60 euros.", "unfaithful")):
        turns = [*said(PRICE, "For adults, please"), {"role": "assistant", "content": answer}]
        assert run(audit(turns, LIDO)).label == label


def test_a_message_that_asks_stands_for_itself() -> None:
    found = run(answerability(said("How many cats live in the town hall?", "When is the lido open?"), LIDO))
    assert found.label == "answerable"


@pytest.mark.parametrize(
    "asked",
    [
        "ok when is the lido open",
        "I'm Tom, when does the lido open",
        "great. when do you open",
        "I have a question about the lido",
    ],
)
def test_a_question_without_its_mark_stands_for_itself(asked: str) -> None:
    before = "How many cats live in the town hall?"
    assert before not in run(query_rewrite(said(before, asked))).query
    assert run(answerability(said(before, asked), LIDO)).label == "answerable"


@pytest.mark.parametrize("told", ["I love swimming", "My dog is called Rex", "I'm Tom by the way"])
def test_what_is_told_beside_a_question_makes_its_answer_no_worse(told: str) -> None:
    for answer, label in (("A day ticket costs 6 euros for adults.", "faithful"), ("It costs 60 euros.", "unfaithful")):
        turns = [*said(PRICE, told), {"role": "assistant", "content": answer}]
        assert run(audit(turns, LIDO)).label == label


def test_messages_are_read_as_one_up_to_a_length() -> None:
    turns = tuple(("user", f"and for group {i} of the school") for i in range(500))
    joined = as_one_turn((("user", PRICE), *turns))
    assert len(joined[-1][1]) < 3_000


@pytest.mark.parametrize(
    "search", ["lido opening hours", "opening hours lido", "day ticket price", "parking near lido", "I need a sauna"]
)
@pytest.mark.parametrize("before", ["How many cats live in the town hall?", "mayor of norwich"])
def test_a_search_in_keywords_stands_for_itself(before: str, search: str) -> None:
    alone, behind = (run(answerability(said(*texts), LIDO)) for texts in ((search,), (before, search)))
    assert alone.label == behind.label
    assert before not in run(query_rewrite(said(before, search))).query


def test_messages_with_an_answer_between_are_two_turns() -> None:
    turns = [*said(PRICE), {"role": "assistant", "content": "6 euros."}, *said("Please be quick")]
    assert PRICE not in run(query_rewrite(turns)).query


def test_a_call_of_a_tool_without_text_is_no_answer() -> None:
    call = {"role": "assistant", "content": None, "tool_calls": [{"function": {"name": "search", "arguments": "{}"}}]}
    turns = [*said(PRICE), call, {"role": "tool", "content": "..."}, *said("Please be quick")]
    assert run(answerability(turns, LIDO)).label == "answerable"


def test_no_turn_and_one_turn_stay_as_they_are() -> None:
    assert as_one_turn(()) == ()
    assert as_one_turn((("user", PRICE),)) == (("user", PRICE),)
