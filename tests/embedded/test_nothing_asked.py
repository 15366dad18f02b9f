"""User's turns that ask nothing of the documents pass the gate; a question in the same form is judged."""

from __future__ import annotations

import pytest

from intrinsics_core import answerability, run

LIDO = ["The lido is open from 9 a.m. to 8 p.m. on weekdays. A day ticket costs 6 euros for adults. No dogs."]
TALK = [
    {"role": "user", "content": "When is the lido open?"},
    {"role": "assistant", "content": "From 9 a.m. to 8 p.m. on weekdays."},
]


def gate(turn: str) -> tuple[str, bool]:
    found = run(answerability([*TALK, {"role": "user", "content": turn}], LIDO))
    return found.label, found.probability is None


@pytest.mark.parametrize(
    "turn",
    [
        # thanks, and what is thought of the answer
        "Thanks, that helps a lot!", "Thank you for your quick answer!", "Thanks a million",
        "No, that's all, thank you.",
        "You have been very helpful.", "I see, that makes sense.", "That's exactly what I needed.", "Good to know.",
        "That answers my question.", "Thank you very much for the detailed explanation.", "Great answer!", "Not bad",
        # what the user does next, and slips
        "I'll think about it.", "Okay, I'll come back later, bye!", "Sorry, wrong chat.", "Never mind.",
        "Sorry for the confusion", "Just testing", "Talk to you later",
        # who the user is
        "My name is Tom and I have two kids.", "I'm Sarah from Leeds.", "We are two adults and a dog.", "I'm a nurse.",
        "We live in Bremen.", "Hello, my name is Ada Brink.",
        # announced questions, and those to whoever answers
        "I have a question", "I have one more question.", "I'd like to ask something.", "I need your help",
        "Can I ask you something?", "Who are you?", "Are you a robot?", "What can you do?", "Hello?",
        "Can you help me?",
    ],
)  # fmt: skip
def test_a_remark_passes(turn: str) -> None:
    assert gate(turn) == ("answerable", True)


@pytest.mark.parametrize(
    "turn",
    [
        "Thanks, that helps. Who is the mayor?", "Thanks, and the mayor", "thanks, cats in the town hall",
        "Thanks in advance for telling me when the sauna opens", "Thank you, sauna prices too",
        "My name is Tom and I want a sailing lesson", "I have two kids, sailing lessons",
        "My name is wrong on the bill", "my name is missing", "our name is not listed", "we come for sailing lessons",
        "I am a bit late", "nothing works", "call me tomorrow", "have you got something else",
        "thanks and on the weekend",
        "I want to know how many cats live in the town hall.", "I have a question about the sauna",
        "Can I ask you who the mayor is?", "Who are your partners in Norway?", "Where is your office?",
        "What can you do in the town hall?", "Are you hiring?", "Can you help me find the mayor?",
        "Sorry, I meant the sauna",
        "I lost my passport", "My washing machine leaks.", "I am locked out", "I have a fever",
        "good restaurants nearby",
        "best time for sailing", "help with my tax bill", "morning mass in church", "wrong passport",
        "the mayor's answer",
    ],
)  # fmt: skip
def test_a_question_in_the_form_of_a_remark_is_judged(turn: str) -> None:
    assert gate(turn) == ("unanswerable", False)


@pytest.mark.parametrize("turn", ["Yes", "No", "Sure, yes", "Yes, I do.", "It is."])
def test_what_may_answer_a_question_of_the_assistant_is_no_remark(turn: str) -> None:
    assert not gate(turn)[1]
