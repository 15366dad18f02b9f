"""What a user's turn asks: it decides what the gate judges, and which question an answer answers."""

from __future__ import annotations

from typing import Any

import pytest

from intrinsics_core import answerability, audit, query_rewrite, run
from intrinsics_core.embedded.turns import accepted_offer, as_one_turn, kind_of
from training.small_talk import turns

LIDO = [
    "The lido is open from 9 a.m. to 8 p.m. on weekdays. A day ticket costs 6 euros for adults and 3 euros for children"
    " under 14. Dogs are not admitted. Lockers need a 2 euro coin."
]
HOURS = ("When is the lido open?", "From 9 a.m. to 8 p.m. on weekdays.")
CATS = ("How many cats live in the town hall?", "Seven.")
PRICE = "What does a day ticket cost?"
RIGHT = "The lido is open from 9 a.m. to 8 p.m. on weekdays."


def talk(*said: str) -> list[dict[str, str]]:
    return [{"role": ("user", "assistant")[i % 2], "content": text} for i, text in enumerate(said)]


def messages(*said: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": text} for text in said]


def gate(turns: list[dict[str, str]]) -> Any:
    return run(answerability(turns, LIDO))


def label(*said: str) -> Any:
    return run(audit(talk(*said), LIDO)).label


def test_the_held_turns_are_told_apart() -> None:
    found: dict[str, list[bool]] = {}
    for row in turns():
        if row.held:
            kind = kind_of([("assistant", row.before), ("user", row.text)])
            alike = ({"asks", "adds", "done"}, {"nothing", "bot", "program", "human"})  # to the gate
            right = kind == row.kind or any({kind, row.kind} <= some for some in alike)
            found.setdefault(row.kind, []).append(right)
    shares = {kind: sum(some) / len(some) for kind, some in found.items()}
    least = {"asks": 0.92, "nothing": 0.9, "again": 0.8, "bot": 0.7, "human": 0.75, "program": 0.8, "done": 0.85}
    assert all(shares[kind] >= share for kind, share in least.items()), shares


@pytest.mark.parametrize(
    "turn", ["Thanks!", "Thanks, that helps a lot!", "Never mind.", "My name is Tom.", "Hello", "Are you a robot?"]
)
def test_a_turn_that_asks_nothing_passes_with_a_reason(turn: str) -> None:
    found = gate(talk(*CATS, turn))
    assert found.label == "answerable" and found.probability is None and found.reason


@pytest.mark.parametrize(
    "turn", ["Thanks, that helps. Who is the mayor?", "My washing machine leaks.", "Who are your partners in Norway?"]
)
def test_a_question_beside_a_remark_is_judged(turn: str) -> None:
    found = gate(talk(*HOURS, turn))
    assert found.label == "unanswerable" and found.probability is not None


@pytest.mark.parametrize("turn", ["Sorry?", "Really?", "I don't understand.", "That's wrong.", "Can you repeat that?"])
def test_a_turn_about_the_last_answer_is_judged_as_the_question_before(turn: str) -> None:
    assert gate(talk(*HOURS, turn)).label == "answerable"
    assert gate(talk(*CATS, turn)).label == "unanswerable"
    assert label(*HOURS, turn, RIGHT) == "faithful"
    assert label(*HOURS, turn, RIGHT.replace("9", "7")) == "unfaithful"


def test_a_bare_answer_said_again_answers_the_question_before() -> None:
    dogs = ("Are dogs admitted?", "No, dogs are not admitted.")
    assert (label(*dogs, "Sorry?", "No."), label(*dogs, "Sorry?", "Yes.")) == ("faithful", "unfaithful")


def test_what_the_assistant_asked_for_belongs_to_the_question_before() -> None:
    asked, said = "That depends. How old are you?", "I am 70."
    found = gate(talk("What does a day ticket cost for adults?", asked, said))
    assert found.label == "answerable" and found.probability is not None
    assert gate(talk("Who is the mayor of Norwich?", asked, said)).label == "unanswerable"
    assert gate(talk(CATS[0], "Hello! How can I help you today?", "I'm Tom.")).probability is None


def test_an_accepted_offer_is_the_question() -> None:
    offer = "Shall I look up what a day ticket costs?"
    said = [("user", "When is it open?"), ("assistant", f"From 9 a.m. {offer}"), ("user", "Yes please")]
    assert accepted_offer(said) == offer
    assert accepted_offer([*said[:2], ("user", "When does it close?")]) == ""
    assert accepted_offer([("user", "Hi"), ("assistant", "It is open."), ("user", "Yes please")]) == ""


@pytest.mark.parametrize("added", ["Please be quick", "For adults", "Thanks!", "My name is Tom"])
def test_what_is_added_does_not_hide_the_question(added: str) -> None:
    found = gate(messages(PRICE, added))
    assert found.label == "answerable" and found.probability is not None
    assert PRICE in run(query_rewrite(messages(PRICE, added))).query
    assert gate(messages(CATS[0], added)).label == "unanswerable"


@pytest.mark.parametrize("asked", ["When is the lido open?", "lido opening hours", "I need a sauna"])
def test_a_message_that_asks_stands_for_itself(asked: str) -> None:
    assert CATS[0] not in run(query_rewrite(messages(CATS[0], asked))).query
    assert gate(messages(CATS[0], asked)).label == gate(messages(asked)).label


def test_messages_are_read_as_one_up_to_a_length() -> None:
    joined = as_one_turn((("user", PRICE), *(("user", f"for group {i} of the school") for i in range(500))))
    assert len(joined[-1][1]) < 3_000


def test_messages_with_an_answer_between_are_two_turns() -> None:
    between = [*messages(PRICE), {"role": "assistant", "content": "6 euros."}, *messages("Please be quick")]
    assert PRICE not in run(query_rewrite(between)).query
    call = {"role": "assistant", "content": None, "tool_calls": [{"function": {"name": "search", "arguments": "{}"}}]}
    unanswered = [*messages(PRICE), call, {"role": "tool", "content": "..."}, *messages("Please be quick")]
    assert gate(unanswered).label == "answerable"


def test_no_turn_and_one_turn_stay_as_they_are() -> None:
    assert as_one_turn(()) == ()
    assert as_one_turn((("user", PRICE),)) == (("user", PRICE),)


@pytest.mark.parametrize("text", ["", "??", "x" * 10_000, "Thanks! " * 5_000])
def test_any_text_has_a_kind(text: str) -> None:
    assert kind_of([("user", text)]) in ("asks", "nothing")
