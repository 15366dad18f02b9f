"""Sentences in which an answer says who answers: no document tells that."""

from typing import Any

import pytest

from intrinsics_core import hallucination_detection, run

LIDO = ["The lido is open from 9 a.m. to 8 p.m. on weekdays. Ada Brink is its manager."]
LUNA = "You are Luna, the assistant of the lido. Be friendly, and answer in one sentence."


def label(system: str, answer: str, question: str = "Who are you?") -> str:
    turns = [{"role": "system", "content": system}] if system else []
    turns += [{"role": "user", "content": question}, {"role": "assistant", "content": answer}]
    return run(hallucination_detection(turns, LIDO)).label


@pytest.mark.parametrize(
    ("system", "answer"),
    [
        (LUNA, "My name is Luna."),
        (LUNA, "You are talking to Luna, the virtual assistant of the lido."),
        (LUNA, "Hi, I'm Luna and I can help you with questions about the lido."),
        ("You are the booking bot of the Garden Hotel.", "Yes, I am the booking bot of the Garden Hotel."),
        ("", "I am an AI assistant."),
        ("", "No, I'm not a real person, I'm a language model."),
        ("", "I am the virtual assistant of the lido."),
        ("", "You can call me Luna."),
    ],
)
def test_who_answers_needs_no_source(system: str, answer: str) -> None:
    assert label(system, answer) == "NA"


@pytest.mark.parametrize(
    ("system", "answer"),
    [
        (LUNA, "I am Luna, the owner of the lido."),
        (LUNA, "I am Bob, the assistant of the lido."),
        (LUNA, "I am Luna, and the lido is closed on Mondays."),
        (LUNA, "My name is Luna and I built the lido."),
        ("", "I am the assistant of the Harbour Hotel."),
        ("", "I'm Dr Anna Smith, the doctor of the lido."),
        ("", "I am an AI assistant with 20 million users."),
        ("", "Yes, I'm a real person."),
    ],
)
def test_what_else_is_said_with_it_is_judged(system: str, answer: str) -> None:
    assert label(system, answer) in ("partial", "unfaithful")


def test_the_name_of_somebody_in_the_documents_is_judged() -> None:
    assert label("", "I am Ada Brink.") != "NA"


@pytest.mark.parametrize(
    ("question", "right", "wrong"),
    [
        ("Are you a bot?", "Yes.", "No."),
        ("Hi! Are you really a human being?", "No.", "Yes."),
        ("Are you ChatGPT or are you a real person?", "No.", "Yes."),
    ],
)
def test_whether_a_program_answers_is_told_truly(question: str, right: str, wrong: str) -> None:
    assert label("", right, question) == "NA"
    assert label("", wrong, question) in ("partial", "unfaithful")
    assert label("", "Yes.", "Are you open on Sundays?") in ("partial", "unfaithful")


def labels(*turns: dict[str, Any]) -> list[str]:
    documents = ["The lido is closed on weekdays. It is open on Saturdays and Sundays. Dogs are not admitted."]
    return [row.label for row in run(hallucination_detection(list(turns), documents)).sentences]


def asked(question: str, answer: str) -> list[str]:
    return labels({"role": "user", "content": question}, {"role": "assistant", "content": answer})


@pytest.mark.parametrize(
    "question",
    [
        "Is the lido open on weekdays, and are you a robot?",
        "Is the lido open on weekdays? Are you a bot?",
        "Are dogs admitted, are you a bot?",
        "Hi! Are you a robot? Are dogs admitted?",
    ],
)
def test_one_yes_to_two_questions_is_judged(question: str) -> None:
    assert asked(question, "Yes.")[0] in ("partial", "unfaithful")


def test_each_yes_answers_its_own_question() -> None:
    of_the_lido, of_the_bot = asked("Is the lido open on weekdays? Are you a bot?", "Yes. Yes.")
    assert of_the_lido in ("partial", "unfaithful") and of_the_bot == "NA"
    assert asked("Are you a robot, and is the lido open on Sundays?", "Yes. Yes.")[0] == "NA"


@pytest.mark.parametrize(
    "question",
    [
        "So tell me, are you an AI?",
        "I have a question first. Are you a bot?",
        "Before I ask, are you a language model?",
        "Am I talking to a robot?",
        "Are you an AI assistant?",
    ],
)
def test_a_question_to_the_bot_may_have_something_in_front(question: str) -> None:
    assert asked(question, "Yes.") == ["NA"]
    assert asked(question, "No.")[0] in ("partial", "unfaithful")


def done(question: str, answer: str) -> list[str]:
    call = {"id": "1", "function": {"name": "send_mail", "arguments": '{"to": "Anna"}'}}
    return labels(
        {"role": "user", "content": question},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "content": "ok"},
        {"role": "assistant", "content": answer},
    )


def test_one_yes_to_a_question_about_a_call_and_another_one_is_judged() -> None:
    for question in (
        "Mail it to Anna. Did you send it, and is the lido open on weekdays?",
        "Have you sent it? Are dogs admitted?",
    ):
        assert done(question, "Yes.")[0] in ("partial", "unfaithful")
    assert done("Did you send it to Anna? Are dogs admitted?", "Yes. No.") == ["NA", "faithful"]
    assert done("Mail it to Anna. Did you send it?", "Yes.") == ["NA"]
