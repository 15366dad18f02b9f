"""Verdicts on everyday documents with questions, lists, headings, tables and boxes in them."""

import pytest

from intrinsics_core import answerability, hallucination_detection, run

FAQ = "Is breakfast included?\nNo, it is 9 euros extra.\n\nAre dogs allowed?\nYes, one per room."
TALK = "Guest: Has the heating been repaired?\nHost: No, the technician comes on Friday."
ASKS = "Frequently asked questions\nHow much is the deposit?\nCan I bring my dog?\nIs breakfast included?"
COVER = "The following are not covered:\n- water damage\n- broken glass\n\nThe following are covered:\n- fire\n- storm"
REPAIRS = (
    "(1) The landlord pays for repairs of\na) the heating,\nb) the roof.\n(2) The tenant pays for repairs of\na) taps."
)
HOTELS = (
    "- Harbour Hotel\n  - pool: yes\n  - double room: 90 euros\n- Garden Hotel\n  - pool: no\n  - double room: 70 euros"
)
GROUPS = "| Choir | Mona Reuter | Monday |\n| Band | Pavel Simic | room 12 |\n| Theatre | Ines Roth | room 4 |"
TICKS = "| Plan | Price | Chat support |\n|---|---|---|\n| Basic | €5 | – |\n| Pro | €9 | ✓ |"
MENU = "Soup\n[x] vegan\n[ ] spicy\nStew\n[ ] vegan\n[x] spicy"


def label(question: str, answer: str, document: str) -> str:
    turns = [{"role": "user", "content": question}, {"role": "assistant", "content": answer}]
    return run(hallucination_detection(turns, [{"text": document}])).label


@pytest.mark.parametrize(
    ("document", "question", "right", "wrong"),
    [
        (FAQ, "Is breakfast included?", "Breakfast is not included.", "Breakfast is included."),
        (FAQ, "Are dogs allowed?", "Dogs are allowed.", "Dogs are not allowed."),
        (
            TALK,
            "Has the heating been repaired?",
            "The heating has not been repaired.",
            "The heating has been repaired.",
        ),
        (COVER, "What is covered?", "Water damage is not covered.", "Water damage is covered."),
        (COVER, "What is covered?", "Fire is covered.", "Fire is not covered."),
        (
            REPAIRS,
            "Who pays?",
            "The landlord pays for repairs of the roof.",
            "The tenant pays for repairs of the roof.",
        ),
        (
            HOTELS,
            "How much is a double room at the Garden Hotel?",
            "A double room at the Garden Hotel costs 70 euros.",
            "A double room at the Garden Hotel costs 90 euros.",
        ),
        (GROUPS, "Who leads the choir?", "Mona Reuter leads the choir.", "Ola Berg leads the choir."),
        (TICKS, "Which plan has chat support?", "Basic has no chat support.", "Basic has chat support."),
        (MENU, "Is the stew vegan?", "The stew is not vegan.", "The stew is vegan."),
        (MENU, "Is the soup vegan?", "The soup is vegan.", "The soup is not vegan."),
    ],
)
def test_the_right_answer_is_faithful_and_the_wrong_one_is_not(
    document: str, question: str, right: str, wrong: str
) -> None:
    assert (label(question, right, document), label(question, wrong, document) == "faithful") == ("faithful", False)


def test_a_first_row_of_an_answer_is_judged() -> None:
    rows = "| Ines Roth | the kitchen |\n| Mona Reuter | room 14 |\n| Pavel Simic | room 15 |"
    staff = "Ines Roth works in room 12. Mona Reuter works in room 14. Pavel Simic works in room 15."
    turns = [{"role": "user", "content": "Who works where?"}, {"role": "assistant", "content": rows}]
    assert run(hallucination_detection(turns, [{"text": staff}])).sentences[0].label != "NA"


@pytest.mark.parametrize(
    ("question", "document"),
    [
        ("Is there a gym?", "Is there a gym?\nOn the second floor, open from 6 to 22."),
        ("Do you deliver to Norway?", "Do you deliver to Norway?\nWithin 5 days, for 12 euros."),
        ("Is breakfast available?", "Is breakfast available?\nFrom 7 to 10 a.m. in the hall."),
        ("Is the tour in English?", "Is the tour in English or German? English."),
        ("How tall is the tower?", "Did you know that the tower is 300 m tall? It was built in 1889."),
        ("What do people over 65 pay?", "Are you under 18? You pay half. Are you over 65? You pay 5 euros."),
    ],
)
def test_an_answer_that_does_not_begin_with_yes_or_no_answers(question: str, document: str) -> None:
    assert run(answerability([{"role": "user", "content": question}], [document])).label == "answerable"
