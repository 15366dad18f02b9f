"""Verdicts on everyday documents with questions, lists, headings, tables and boxes in them."""

import pytest

from intrinsics_core import answerability, citations, hallucination_detection, run
from intrinsics_core.text.layout import laid_out

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
PLANS = "# Plans\n\n## Basic\n\nStorage: 5 GB. Users: 1.\n\n## Pro\n\nStorage: 50 GB. Users: 10.\n"
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
        (PLANS, "How much storage has Basic?", "Basic has 5 GB of storage.", "Basic has 50 GB of storage."),
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
    ("document", "question", "answer", "cited"),
    [
        (FAQ, "Is breakfast included?", "Breakfast is not included.", ["No, it is 9 euros extra."]),
        (
            COVER,
            "What is covered?",
            "Water damage is not covered.",
            ["The following are not covered:\n- water damage"],
        ),
        (
            HOTELS,
            "How much is a double room at the Garden Hotel?",
            "A double room at the Garden Hotel costs 70 euros.",
            ["- Garden Hotel", "- double room: 70 euros"],
        ),
        (ASKS, "Can I bring my dog?", "You can bring your dog.", []),
    ],
)
def test_a_sentence_is_cited_for_words_of_its_own(document: str, question: str, answer: str, cited: list[str]) -> None:
    turns = [{"role": "user", "content": question}, {"role": "assistant", "content": answer}]
    found = run(citations(turns, [{"text": document}])).citations
    assert sorted(document[each.document_begin : each.document_end] for each in found) == sorted(cited)


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


QUESTIONS = ["What is the password of the wifi?", "Are pets allowed?", "How can I cancel my booking?"]


@pytest.mark.parametrize(
    ("document", "answer", "places"),
    [
        ("Who would have thought that the mill, built in 1911, would still grind flour? It does.",
         "The mill was built in 1911.", (0, 1)),
        ("How did the tide mill, built in 1911 by Ada Brink, survive the flood?\nThe walls are three metres thick.",
         "The tide mill was built in 1911 by Ada Brink.", (0, 1)),
        ("Why did Ada Brink leave Oslo in 1911?\n\nShe moved to Lundby.", "Ada Brink moved to Lundby.", (0, 1)),
        ("What does breakfast cost?\nIt costs 9 euros.", "Breakfast costs 9 euros.", (1,)),
        ("Is breakfast included?\nNo, it is 9 euros extra.", "Breakfast is 9 euros extra.", (1,)),
        ("The mill is old. It was built in 1911.", "It was built in 1911.", (1,)),
    ],
)  # fmt: skip
def test_a_question_is_cited_with_its_answer_where_it_alone_tells(
    document: str, answer: str, places: tuple[int, ...]
) -> None:
    turns = [{"role": "user", "content": "What is told?"}, {"role": "assistant", "content": answer}]
    (found,) = run(citations(turns, [document])).citations
    spans = [laid_out(document)[i] for i in places]
    assert (found.document_begin, found.document_end) == (spans[0].begin, spans[-1].end)
