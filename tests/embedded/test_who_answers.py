"""Sentences in which an answer says who answers: no document tells that."""

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
