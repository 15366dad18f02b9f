"""Behind "Sorry?", "Really?", "Can you repeat that?" or "Thanks!" an answer is one to the question before."""

from __future__ import annotations

from typing import Any

import pytest

from intrinsics_core import answerability, audit, run

LIDO = [
    "The lido is open from 9 a.m. to 8 p.m. on weekdays and from 10 a.m. to 6 p.m. on Sundays. A day ticket costs"
    " 6 euros for adults and 3 euros for children under 14. Dogs are not admitted. Lockers need a 2 euro coin."
]
HOURS = ("When is the lido open?", "From 9 a.m. to 8 p.m. on weekdays.")
DOGS = ("Are dogs admitted?", "No, dogs are not admitted.")
RIGHT = "The lido is open from 9 a.m. to 8 p.m. on weekdays."
BACK = [
    "Really?", "Sorry?", "Come again?", "Can you say that again?", "Could you explain that?",
    "Where did you find that?",
    "Thanks!", "Pardon?", "How do you know that?", "Are you really sure about that?", "I don't understand.",
    "That can't be right.", "Could you check that again, please?", "OK, got it, thanks!",
]  # fmt: skip


def talk(*turns: str) -> list[dict[str, str]]:
    return [{"role": ("user", "assistant")[i % 2], "content": text} for i, text in enumerate(turns)]


def label(*turns: str) -> Any:
    return run(audit(talk(*turns), LIDO)).label


@pytest.mark.parametrize("turn", BACK)
def test_an_answer_said_again_is_judged_as_before(turn: str) -> None:
    assert label(*HOURS, turn, RIGHT) == "faithful"
    assert label(*HOURS, turn, RIGHT.replace("9", "7")) == "unfaithful"


def test_a_second_turn_back_is_about_the_same_question() -> None:
    assert label(*HOURS, "Sorry?", RIGHT, "Really?", f"Yes, {RIGHT[0].lower()}{RIGHT[1:]}") == "faithful"


@pytest.mark.parametrize(
    "turn",
    [
        "Sorry?", "Really?", "Come again?", "What do you mean?", "I don't understand.", "That's wrong.",
        "No, that's wrong.", "You are mistaken.", "That is not right.",
    ],
)  # fmt: skip
def test_the_gate_asks_the_question_before(turn: str) -> None:
    assert run(answerability(talk(*HOURS, turn), LIDO)).label == "answerable"
    nobody = ("How many cats live in the town hall?", "Seven.")
    assert run(answerability(talk(*nobody, turn), LIDO)).label == "unanswerable"


@pytest.mark.parametrize("turn", ["Thanks!", "Can you repeat that?", "Can you explain that?", "Sorry, wrong chat."])
def test_the_gate_lets_thanks_and_requests_about_the_talk_pass(turn: str) -> None:
    assert run(answerability(talk("How many cats live in the town hall?", "Seven.", turn), LIDO)).probability is None


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("That depends. How old are you?", "I am 70."),
        ("For how many people?", "We are two adults and one child."),
        ("Do you have pets?", "Yes, we have two dogs."),
        ("Where do you live?", "I live in Hull."),
        ("Are you a student?", "I'm a student from Leeds."),
    ],
)
def test_what_the_assistant_asked_for_belongs_to_the_question_before(asked: str, said: str) -> None:
    price = "What does a day ticket cost for adults?"
    found = run(answerability(talk(price, asked, said), LIDO))
    assert found.label == "answerable" and found.probability is not None
    assert run(answerability(talk("Who is the mayor of Norwich?", asked, said), LIDO)).label == "unanswerable"
    assert label(price, asked, said, "A day ticket costs 6 euros.") == "faithful"
    assert label(price, asked, said, "A day ticket costs 60 euros.") == "unfaithful"


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("Hello! How can I help you today?", "I'm Tom."),
        ("Hi! What's your name?", "My name is Ada Brink."),
        ("6 euros. Is there anything else you want to know?", "We live in Hull."),
        ("6 euros.", "I'm a nurse."),
        ("Fine, and you?", "I'm Sarah from Leeds."),
    ],
)
def test_who_the_user_is_asks_nothing_behind_a_polite_question(asked: str, said: str) -> None:
    assert run(answerability(talk("How many cats live in the town hall?", asked, said), LIDO)).probability is None


@pytest.mark.parametrize("turn", ["Really?", "Are you sure?", "Can you repeat that?", "Thanks!"])
def test_a_yes_to_the_turn_itself_is_none_to_the_question_before(turn: str) -> None:
    assert label(*DOGS, turn, "Yes, dogs are not admitted.") == "faithful"
    assert label(*DOGS, turn, "Yes, dogs are admitted.") == "unfaithful"
    assert label(*DOGS, turn, "Sure!") == label(*DOGS, turn, "No problem!") == "NA"


def test_a_bare_answer_said_again_answers_the_question_before() -> None:
    assert (label(*DOGS, "Sorry?", "No."), label(*DOGS, "Sorry?", "Yes.")) == ("faithful", "unfaithful")


@pytest.mark.parametrize(
    "turn", ["Where is it from?", "Where do you have it?", "What is the source?", "Really cold?", "Sorry, on Sundays?"]
)
def test_a_question_of_its_own_does_not_go_back(turn: str) -> None:
    asked = run(answerability(talk("How much is a day ticket?", "6 euros for adults.", turn), LIDO))
    before = run(answerability(talk("How much is a day ticket?"), LIDO))
    assert asked.probability is not None and asked.probability < before.probability


@pytest.mark.parametrize("question", ["When is the lido open?", "What are the opening hours on weekdays?"])
def test_a_yes_that_nobody_asked_for_is_not_judged(question: str) -> None:
    assert label(question, f"Yes, {RIGHT[0].lower()}{RIGHT[1:]}") == "faithful"
    assert label(question, "Yes, the lido is open from 7 a.m. to 8 p.m. on weekdays.") == "unfaithful"
