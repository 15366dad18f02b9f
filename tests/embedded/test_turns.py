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


def test_an_accepted_offer_is_the_question() -> None:
    offer = "Shall I look up what a day ticket costs?"
    said = [("user", "When is it open?"), ("assistant", f"From 9 a.m. {offer}"), ("user", "Yes please")]
    assert accepted_offer(said) == offer
    assert accepted_offer([*said[:2], ("user", "When does it close?")]) == ""
    assert accepted_offer([("user", "Hi"), ("assistant", "It is open."), ("user", "Yes please")]) == ""


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
