"""Conversations about several things of one kind: which of them a follow-up question and its answer are about."""

from typing import Any

import pytest

from intrinsics_core import audit, query_rewrite, run

PLANS = [
    {"id": "plus", "title": "Plus plan", "text": "The Plus plan costs 9 euros a month. It has 5 users."},
    {"id": "pro", "title": "Pro plan", "text": "The Pro plan costs 19 euros a month. It has 20 users."},
]
PRO = ("What does the Plus plan cost?", "9 euros.", "And the Pro plan?", "19 euros.")


def talk(*turns: str) -> list[dict[str, str]]:
    return [{"role": ("user", "assistant")[i % 2], "content": text} for i, text in enumerate(turns)]


def judged(documents: list[dict[str, str]], *turns: str) -> Any:
    return run(audit(talk(*turns), documents))


def rewritten(*turns: str) -> str:
    return run(query_rewrite(talk(*turns))).query


@pytest.mark.parametrize(
    "turns",
    [
        PRO,
        ("What does the Plus plan cost?", "9 euros.", "What does the Pro plan offer?", "Much more."),
        (*PRO[:3], "It costs 10 euros more than the Plus plan."),
        (*PRO, "Is there a discount?", "No."),
    ],
)
def test_it_is_what_was_asked_about_last(turns: tuple[str, ...]) -> None:
    asked = (*turns, "How many users does it have?")
    assert "Plus" not in rewritten(*asked)
    assert judged(PLANS, *asked, "It has 20 users.").label == "faithful"
    assert judged(PLANS, *asked, "It has 5 users.").label != "faithful"


@pytest.mark.parametrize(
    "turns",
    [
        ("Where is the Glass Museum?", "In Mill Street.", "Where is the Tide Museum?", "At the port.", "Is it big?"),
        ("Who is Anna Berg?", "The manager.", "And Tom Hale?", "A librarian.", "Where is his office?"),
        ("What is the capital of France?", "Paris.", "And of Germany?", "Berlin.", "What is its population?"),
    ],
)
def test_what_another_name_took_the_place_of_is_no_reading(turns: tuple[str, ...]) -> None:
    assert not any(name in rewritten(*turns) for name in ("Glass", "Anna", "France"))


@pytest.mark.parametrize(
    ("turns", "query"),
    [
        # a name of another kind
        (("Does the Plus plan support Linux?", "Yes.", "And Windows?", "Yes.", "How many users does it have?"), "Plus"),
        (("Where is the Tide Mill?", "In Ely.", "Can I pay with Visa?", "Yes.", "When was it built?"), "Tide Mill"),
        # a day
        (("Where is the Tide Mill?", "In Ely.", "Is it open on Sundays?", "Yes.", "When was it built?"), "Tide Mill"),
        # a question about both
        (("Who is Anna Berg?", "The manager.", "Does she know Tom Hale?", "Yes.", "Where does she live?"), "Anna Berg"),
        # a name that the answer comes back to
        (("Who is Anna Berg?", "The manager.", "And who is Tom Hale?", "The brother of Anna Berg.",
          "What is her phone number?"), "Anna Berg"),
    ],
)  # fmt: skip
def test_a_name_that_is_still_talked_of_is_a_reading(turns: tuple[str, ...], query: str) -> None:
    assert query in rewritten(*turns)
