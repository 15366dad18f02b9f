"""Answers that address their user by name, and answers that apologise before what they claim."""

from typing import Any

import pytest

from intrinsics_core import audit, run
from intrinsics_core.embedded.scoring.addressing import names_of_the_user, unaddressed
from intrinsics_core.embedded.scoring.claims import without_apology
from intrinsics_core.protocol.task import Message

LIDO = [
    "The lido is open from 9 a.m. to 8 p.m. on weekdays. A day ticket costs 6 euros for adults and 3 euros for children"
    " under 14. Dogs are not admitted. The cafe sells pizza and ice cream."
]
PRICE = "What does a day ticket cost for adults?"


def talk(*turns: str) -> list[dict[str, str]]:
    return [{"role": ("user", "assistant")[i % 2], "content": text} for i, text in enumerate(turns)]


def judged(turns: list[dict[str, str]], question: str, answer: str) -> Any:
    return run(audit([*turns, *talk(question, answer)], LIDO))


@pytest.mark.parametrize(
    ("turns", "answer"),
    [
        (talk("Good morning, this is Ada Brink.", "Hello!"), "Ms Brink, a day ticket costs {} euros for adults."),
        (talk("Hi, I'm Tom.", "How can I help?"), "A day ticket costs {} euros for adults, Tom."),
        (talk("Hello", "Hello Tom!"), "Hi Tom, a day ticket costs {} euros for adults."),
        (
            talk("Is it big? Kind regards, Ada Brink", "Yes."),
            "Of course, Ms Brink, a day ticket costs {} euros for adults.",
        ),
        (
            [{"role": "system", "content": "You help at a lido. The customer's name is Jean-Luc."}],
            "A day ticket costs {} euros for adults, Jean-Luc!",
        ),
    ],
)
def test_the_users_name_needs_no_source_and_what_stands_beside_it_does(turns: list[Any], answer: str) -> None:
    right = judged(turns, PRICE, answer.format(6))
    assert right.label == "faithful"
    assert right.sentences[0].text == answer.format(6)  # as it came
    assert judged(turns, PRICE, answer.format(60)).label == "unfaithful"


@pytest.mark.parametrize(
    "answer",
    [
        "The lido was built by the architect, Tom Hale.",
        "The lido was built by the architect, Ada Brink.",
        "Day tickets are sold by Ada Brink.",
        "Please ask the manager, Ms Brink.",
        "The lido belongs to Ada Brink, Tom Hale and Ann Lee.",
    ],
)
def test_a_name_that_says_who_is_meant_is_judged(answer: str) -> None:
    assert (
        judged(talk("Good morning, this is Ada Brink.", "Good morning!"), "Who runs it?", answer).label == "unfaithful"
    )


@pytest.mark.parametrize(
    ("sentence", "left"),
    [
        ("- Tom, it is free.", "- It is free."),
        ("No, Tom, it is closed.", "No, it is closed."),
        ("Breakfast is free, Tom.", "Breakfast is free."),
        ("By the way, Tom, it is free.", "By the way, Tom, it is free."),
        ("Our manager is the owner, Tom.", "Our manager is the owner, Tom."),
        ("It opens at 9, Tom Hale.", "It opens at 9, Tom Hale."),  # which nobody has said
        # a list that has the name, too
        ("These work on Monday: Ada, Ben, Tom.", "These work on Monday: Ada, Ben, Tom."),
        ("The winners are: Ada, Tom.", "The winners are: Ada, Tom."),
        ("It is run by Ada and Ben, Tom.", "It is run by Ada and Ben, Tom."),
        ("Tom, Ben and Ada work on Monday.", "Tom, Ben and Ada work on Monday."),
        ("It is open on Saturdays and Sundays, Tom.", "It is open on Saturdays and Sundays."),
        ("For adults, it costs 6 euros, Tom.", "For adults, it costs 6 euros."),
    ],
)
def test_a_name_is_left_out_at_the_ends_of_a_sentence(sentence: str, left: str) -> None:
    assert unaddressed(sentence, frozenset({"Tom"})) == left


@pytest.mark.parametrize(
    ("said", "names"),
    [
        ("I'm Tom and I have a dog.", {"Tom"}),
        ("This is Ada Brink from Leeds.", {"Ada", "Brink"}),
        ("Good morning, this is Tom.", {"Tom"}),
        ("I am German.", set()),
        ("I'm Swiss, and I need a room.", set()),
        ("This is Paris calling.", set()),
    ],
)
def test_what_else_a_user_is_is_no_name(said: str, names: set[str]) -> None:
    assert names_of_the_user([Message("user", said)], []) == names


def test_what_the_user_is_supports_no_list() -> None:
    turns = talk("I am German.", "Hello!")
    menu = "The menu is in English and French."
    answer = "The menu is in English and French, German."
    assert run(audit([*turns, *talk("Which languages is the menu in?", answer)], [menu])).label != "faithful"


@pytest.mark.parametrize(
    ("answer", "claim"),
    [
        ("I'm sorry, but there is no cafe.", "There is no cafe."),
        ("Unfortunately, dogs are not admitted.", "Dogs are not admitted."),
        ("We regret to inform you that the lido is closed.", "The lido is closed."),
        ("I'm afraid that children pay 3 euros.", "Children pay 3 euros."),
        ("- Sorry, but lockers cost 2 euros.", "- Lockers cost 2 euros."),
        # which say nothing of the documents' world
        ("I'm sorry, but I don't know.", "I'm sorry, but I don't know."),
        ("I'm sorry, but the documents do not say.", "I'm sorry, but the documents do not say."),
        ("Sorry about the delay.", "Sorry about the delay."),
        ("Unfortunately not.", "Unfortunately not."),
        ("I'm sorry, no.", "I'm sorry, no."),
    ],
)
def test_a_claim_is_judged_without_the_apology_before_it(answer: str, claim: str) -> None:
    assert without_apology(answer) == claim


def test_an_apology_makes_an_invented_claim_no_better() -> None:
    question = "Are children admitted, and is there a cafe?"
    apology = judged([], question, "I'm sorry, but there is no cafe.")
    assert apology.label != "faithful"
    assert apology.score == judged([], question, "There is no cafe.").score
    assert judged([], "Are dogs admitted?", "I'm sorry, but dogs are not admitted.").label == "faithful"


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("No, Ms Brink.", "Yes, Ms Brink."),
        ("I'm afraid not, Ms Brink.", "Of course, Ms Brink."),
        ("I'm sorry, Ms Brink, but dogs are not admitted.", "I'm happy to say, Ms Brink, that dogs are admitted."),
        ("Ms Brink, I'm sorry, but dogs are not admitted.", "Ms Brink, dogs are admitted."),
    ],
)
def test_a_polite_no_to_a_user_by_name_is_judged_as_a_no(right: str, wrong: str) -> None:
    turns = talk("Good morning, this is Ada Brink.", "Good morning!")
    assert judged(turns, "Are dogs admitted?", right).label == "faithful"
    assert judged(turns, "Are dogs admitted?", wrong).label != "faithful"


def test_an_apology_to_the_user_by_name_hides_no_claim() -> None:
    turns = talk("Hi, I'm Tom.", "How can I help?")
    for answer in ("I'm sorry Tom, a day ticket costs {} euros for adults.", "No Tom, a day ticket costs {} euros."):
        assert judged(turns, PRICE, answer.format(60)).label == "unfaithful"
    assert judged(turns, PRICE, "I'm sorry Tom, a day ticket costs 6 euros for adults.").label == "faithful"
