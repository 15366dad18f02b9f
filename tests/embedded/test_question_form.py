"""The form of a question decides nothing: names in any case, slips of the pen, talk around it, two at once."""

from __future__ import annotations

import pytest

from intrinsics_core import answerability, query_rewrite, run
from intrinsics_core.embedded.query.corrections import as_fragment
from intrinsics_core.embedded.spelling import without_slips

GARDEN = {
    "title": "Garden Hotel",
    "text": "The hotel has 42 rooms. Breakfast is served from 6:30 to 10 am and costs 14 euros. There is no lift.",
}
HARBOUR = {
    "title": "Harbour Hotel",
    "text": "The hotel has 110 rooms and a rooftop bar. Breakfast is included. Two lifts go to all floors.",
}
POOL = {
    "title": "Seaview Pool",
    "text": "The pool has a sauna. It opens every day at 7 am. Adults pay 6.50 and children under 14 pay 3 euros.",
}
SHUTTLE = {
    "title": "Airport shuttle",
    "text": "The shuttle bus leaves from platform 4 every 20 minutes. A single ticket costs 8 euros.",
}


def gate(documents: list[dict[str, str]], *turns: str) -> str:
    messages = [{"role": ("user", "assistant")[i % 2], "content": text} for i, text in enumerate(turns)]
    return run(answerability(messages, documents)).label


@pytest.mark.parametrize(
    "question",
    [
        "Is there a rooftop bar at the Garden Hotel?",
        "is there a rooftop bar at the garden hotel?",
        "IS THERE A ROOFTOP BAR AT THE GARDEN HOTEL?",
        "Garden Hotel: is there a rooftop bar?",
        "we are staying at the garden hotel. is there a rooftop bar?",
    ],
)
def test_a_name_counts_however_it_is_written(question: str) -> None:
    assert gate([GARDEN, HARBOUR], question) == "unanswerable"
    assert gate([GARDEN, HARBOUR], question.replace("Garden", "Harbour").replace("garden", "harbour")
                .replace("GARDEN", "HARBOUR")) == "answerable"  # fmt: skip


@pytest.mark.parametrize("question", ["Is there a rooftop bar?", "Does it have a rooftop bar?"])
def test_a_follow_up_is_about_what_the_user_named_last(question: str) -> None:
    def asked(first: str, *more: str) -> str:
        return gate([GARDEN, HARBOUR], f"How much is breakfast at the {first}?", "It is in the list.", *more, question)

    assert [asked("Garden Hotel"), asked("Harbour Hotel")] == ["unanswerable", "answerable"]
    assert asked("Harbour Hotel", "And at the Garden Hotel?", "14 euros.") == "unanswerable"
    assert gate([GARDEN, HARBOUR], "How much is breakfast at the Garden Hotel?", "14 euros.",
                "Which hotel has a rooftop bar?") == "answerable"  # fmt: skip


def test_a_follow_up_on_another_document_is_about_that() -> None:
    shuttle = SHUTTLE | {"title": "Shuttle bus"}
    before = "How much is breakfast at the Garden Hotel?", "14 euros."
    assert gate([GARDEN, HARBOUR, shuttle], *before, "How often does the shuttle leave?") == "answerable"


@pytest.mark.parametrize("behind", ["Please answer in one sentence.", "I need to know asap.", "Thank you!"])
def test_what_stands_behind_the_question_changes_nothing(behind: str) -> None:
    assert gate([SHUTTLE], f"Can I take a bike on the shuttle? {behind}") == "unanswerable"
    assert gate([SHUTTLE], f"How often does the shuttle leave? {behind}") == "answerable"


@pytest.mark.parametrize(
    ("question", "answerable"),
    [
        ("How much do adults pay, and is there a water slide?", False),
        ("How much do adults pay, and is there a sauna?", True),
        ("How much do adults pay? And how deep is the pool?", False),
        ("How much do adults pay? And when does it open?", True),
        ("Can I ask you something? When does the pool open?", True),
        ("When does the pool open and how often does the shuttle leave?", True),  # in two documents
    ],
)
def test_two_questions_are_answerable_where_both_are(question: str, answerable: bool) -> None:
    assert gate([POOL, SHUTTLE], question) == ("answerable" if answerable else "unanswerable")


@pytest.mark.parametrize(
    "question",
    [
        "Is a ticket for the shuttle more than five euros? Best, Tom",
        "Hello from Berlin! Is the ticket cheaper than ten euros?",
        "Does The Shuttle Leave More Than Once An Hour?",
    ],
)
def test_a_name_around_a_comparison_is_none_of_its_sides(question: str) -> None:
    assert gate([SHUTTLE], question) == "answerable"


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("How much do adlts pay?", "How much do adults pay?"),
        ("is there a saunna", "is there a sauna"),
        ("When does the shutle leave?", "When does the shuttle leave?"),
        ("How much is the chiken curry?", "How much is the chiken curry?"),  # nothing like it is there
        ("How much is a slide?", "How much is a slide?"),  # a word of its own
        ("Where is Mr Saura?", "Where is Mr Saura?"),  # a name is another one
        ("Is it open on the Seaveiw Pool's lawn?", "Is it open on the Seaview Pool's lawn?"),
        ("Who is Seavick?", "Who is Seavick?"),
        ("how deep is the seaviev pool", "how deep is the seaviev pool"),  # a name, in lower case
        ("", ""),
    ],
)
def test_a_slip_of_the_pen_is_read_as_the_word_of_the_documents(typed: str, read: str) -> None:
    assert without_slips([POOL["title"], POOL["text"], SHUTTLE["text"]], typed) == read


def test_a_slip_of_the_pen_refuses_nothing() -> None:
    assert gate([POOL], "How much do adlts pay?") == "answerable"


@pytest.mark.parametrize(
    ("turn", "read"),
    [
        ("no, I meant the garden hotel", "and the garden hotel?"),
        ("Sorry, the Garden Hotel.", "and the Garden Hotel?"),
        ("not the harbour hotel, the garden hotel", "and the garden hotel?"),
        ("Thank you! And on Sundays?", "And on Sundays?"),
        ("I see. And on Sundays?", "And on Sundays?"),
        ("Thank you!", "Thank you!"),
        ("No, that is all.  Bye", "No, that is all.  Bye"),
        ("Sorry, my mistake.", "Sorry, my mistake."),
        ("Sorry, how much is it?", "Sorry, how much is it?"),
        ("Is it open on Sundays?", "Is it open on Sundays?"),
    ],
)
def test_a_correction_is_a_fragment(turn: str, read: str) -> None:
    assert as_fragment(turn) == read


def test_a_correction_asks_the_last_question_anew() -> None:
    before = "Does the Harbour Hotel have a rooftop bar?", "Yes, it does."
    assert gate([GARDEN, HARBOUR], *before, "no, I meant the garden hotel") == "unanswerable"
    turns = [{"role": "user", "content": before[0]}, {"role": "assistant", "content": before[1]},
             {"role": "user", "content": "Sorry, the Garden Hotel."}]  # fmt: skip
    found = run(query_rewrite(turns))
    assert found.query == "Does the Garden Hotel have a rooftop bar?" and found.original == "Sorry, the Garden Hotel."
