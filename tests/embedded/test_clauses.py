"""What sentences that compare titled documents say of each of them."""

from __future__ import annotations

import pytest

from intrinsics_core import audit, run
from intrinsics_core.embedded.about import clauses

HOTELS = ["Harbour Hotel", "Garden Hotel", "Station Hotel"]
PEOPLE = ["Anna Berg", "Tom Hale"]
PLANS = ["Tariff Sun", "Tariff Moon"]


@pytest.mark.parametrize(
    ("titles", "sentence", "cut"),
    [
        (
            HOTELS,
            "The Harbour Hotel charges 110 euros for a double room, while the Garden Hotel charges 85.",
            [
                "The Harbour Hotel charges 110 euros for a double room.",
                "The Garden Hotel charges 85 euros for a double room.",
            ],
        ),
        (
            HOTELS,
            "Breakfast is included at the Harbour Hotel, but it costs 12 euros at the Garden Hotel.",
            ["Breakfast is included at the Harbour Hotel.", "Breakfast costs 12 euros at the Garden Hotel."],
        ),
        (
            HOTELS,
            "Dogs are welcome at the Harbour Hotel, but not allowed at the Garden Hotel.",
            ["Dogs are welcome at the Harbour Hotel.", "Dogs are not allowed at the Garden Hotel."],
        ),
        (
            HOTELS,
            "Check-out is at 11 am at the Harbour Hotel and at 10 am at the Garden Hotel.",
            ["Check-out is at 11 am at the Harbour Hotel.", "Check-out is at 10 am at the Garden Hotel."],
        ),
        (
            HOTELS,
            "While the Harbour Hotel has 42 rooms, the Garden Hotel only has 18 rooms.",
            ["The Harbour Hotel has 42 rooms.", "The Garden Hotel only has 18 rooms."],
        ),
        (
            HOTELS,
            "The Harbour Hotel has 42 rooms, the Garden Hotel 18 and the Station Hotel 95.",
            ["The Harbour Hotel has 42 rooms.", "The Garden Hotel has 18 rooms.", "The Station Hotel has 95 rooms."],
        ),
        (HOTELS, "Unlike the Garden Hotel, the Harbour Hotel has a pool.", ["The Harbour Hotel has a pool."]),
        (HOTELS, "The Harbour Hotel has a pool, unlike the Garden Hotel.", ["The Harbour Hotel has a pool."]),
        (
            PLANS,
            "The unit price is 31 cents with Sun and 36 cents with Moon.",
            ["The unit price is 31 cents with Sun.", "The unit price is 36 cents with Moon."],
        ),
        (
            PLANS,
            "Tariff Sun sends its bills by post, but Tariff Moon by e-mail.",
            ["Tariff Sun sends its bills by post.", "Tariff Moon sends its bills by e-mail."],
        ),
        (
            PEOPLE,
            "Anna Berg joined in 2015 and Tom Hale in 2019.",
            ["Anna Berg joined in 2015.", "Tom Hale joined in 2019."],
        ),
        (PEOPLE, "Tom speaks Polish, but Anna does not.", ["Tom speaks Polish.", "Anna does not speak Polish."]),
        (
            HOTELS,
            "The Harbour Hotel has a pool and a sauna, and the Garden Hotel has a gym and a bar.",
            ["The Harbour Hotel has a pool and a sauna.", "The Garden Hotel has a gym and a bar."],
        ),
        (
            HOTELS,
            "The Harbour Hotel has a pool, but not the Garden Hotel.",
            ["The Harbour Hotel has a pool.", "The Garden Hotel has no pool."],
        ),
        # One predicate of several titles.
        (
            HOTELS,
            "Dogs are welcome at the Harbour Hotel and the Garden Hotel.",
            ["Dogs are welcome at the Harbour Hotel.", "Dogs are welcome at the Garden Hotel."],
        ),
        (HOTELS, "All three hotels have a pool.", [f"{title} have a pool." for title in HOTELS]),
        (HOTELS, "None of them allows dogs.", [f"{title} does not allow dogs." for title in HOTELS]),
        (HOTELS[:2], "Neither hotel has a pool.", [f"{title} has no pool." for title in HOTELS[:2]]),
        (
            HOTELS,
            "The Harbour Hotel and the Garden Hotel charge 110 and 85 euros, respectively.",
            ["The Harbour Hotel charge 110 euros.", "The Garden Hotel charge 85 euros."],
        ),
        (PEOPLE, "Both speak Polish.", [f"{title} speak Polish." for title in PEOPLE]),
    ],
)
def test_what_a_sentence_says_of_each_title(titles: list[str], sentence: str, cut: list[str]) -> None:
    assert clauses(sentence, titles, f"What about {' and '.join(titles)}?") == cut


@pytest.mark.parametrize(
    "sentence",
    [
        "",
        "The Harbour Hotel has a pool, a sauna and 42 rooms.",
        "The Harbour Hotel is more expensive than the Garden Hotel.",
        "The Garden Hotel is near the Station Hotel.",
        "There are two choices, the Garden Hotel and the Station Hotel.",
        "The Harbour Hotel and the Garden Hotel differ in price.",
        "You can walk from the Harbour Hotel to the Garden Hotel, and the bus takes 5 minutes.",
        "All rooms have a shower.",  # of one of them, perhaps
        "Both rooms are free.",
        "Both the pool and the sauna are free.",
        "Both pool and sauna are free.",
        "Neither hotel",
        "Either way, breakfast is included.",
        "All hotels are related.",
        "Both hotels have a pool.",  # which two of three?
    ],
)
def test_a_sentence_that_cannot_be_cut_stands_as_it_is(sentence: str) -> None:
    assert clauses(sentence, HOTELS, "How do the hotels compare?") == [sentence]
    assert clauses(sentence, []) == clauses(sentence, ["", ""]) == [sentence]


def test_all_of_what_the_question_is_about_are_no_titles() -> None:
    said = "All guests get a towel."
    assert clauses(said, HOTELS, "What do guests of the Harbour Hotel get?") == [said]


def test_parts_of_one_guide_are_no_two_of_a_kind() -> None:
    assert clauses("Both are on page 4.", ["Prices", "Opening hours"]) == ["Both are on page 4."]


DOCUMENTS = [
    {
        "title": "Harbour Hotel",
        "text": "The hotel has 42 rooms. A double costs 110 euros. There is a pool on the roof.",
    },
    {"title": "Garden Hotel", "text": "18 rooms. A double costs 85 euros. There is no pool, but a sauna."},
]


@pytest.mark.parametrize(
    ("answer", "label", "cited"),
    [
        ("The Harbour Hotel has a pool, whereas the Garden Hotel has a sauna.", "faithful", {0, 1}),
        ("The Harbour Hotel has a sauna, whereas the Garden Hotel has a pool.", "unfaithful", None),
        ("The Harbour Hotel has 42 rooms; the Garden Hotel has 18.", "faithful", {0, 1}),
        ("The Harbour Hotel has 18 rooms; the Garden Hotel has 42.", "unfaithful", None),
        ("Both hotels have a pool.", "unfaithful", None),
    ],
)
def test_a_comparison_is_judged_by_all_that_it_says(answer: str, label: str, cited: set[int] | None) -> None:
    turns = [{"role": "user", "content": "How do the hotels compare?"}, {"role": "assistant", "content": answer}]
    result = run(audit(turns, DOCUMENTS))
    (sentence,) = result.sentences
    assert (sentence.text, sentence.label, result.label) == (answer, label, label)
    if cited is not None:
        assert {citation.document_index for citation in sentence.citations} == cited


def test_a_number_of_a_title_stands_in_its_document() -> None:
    phones = [
        {"title": "iPhone 15", "text": "It has a USB-C port. The screen is bright."},
        {"title": "iPhone 16", "text": "The battery lasts 15 hours. It has a camera control."},
    ]
    turns = [{"role": "user", "content": "Tell me about the phones."}, {"role": "assistant", "content": ""}]
    for answer, label in (
        ("The iPhone 15 has a USB-C port.", "faithful"),
        ("The iPhone 15 lasts 15 hours.", "unfaithful"),
    ):
        turns[1]["content"] = answer
        assert run(audit(turns, phones)).label == label
