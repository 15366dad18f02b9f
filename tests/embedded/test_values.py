"""Numbers, amounts, times and dates are values: equal ones are found, different ones are not. More: the cases."""

from __future__ import annotations

import pytest

from intrinsics_core.embedded.values import quantities
from intrinsics_core.embedded.words import claim, clean, keys_of

EQUAL = [
    ("It has twelve rooms.", "It has 12 rooms."),
    ("It costs EUR 12.50.", "It costs 12,50 €."),
    ("The parcel weighs 1.5 kg.", "The parcel weighs 1500 grams."),
    ("It closes at 9 p.m.", "It closes at 21:00."),
    ("It was signed on 14 May 2024.", "It was signed on 14.05.2024."),
]

DIFFERENT = [
    ("The fee rose by 12 percent.", "The fee rose by 12 euros."),
    ("The parcel weighs 5 kg.", "The shelf is 5 m wide."),
    ("It closes at 21:00.", "It closes at 22:00."),
    ("It was signed on 3 September 2004.", "It was signed on 2005-09-03."),
]


def lacks(sentence: str, source: str) -> list[str]:
    """The numbers and units of a sentence that a source does not hold."""
    keys, text = keys_of(source), clean(sentence)
    spans = [text[each.begin : each.end].casefold() for each in quantities(text)]
    return [
        unit.text
        for unit in claim(sentence).units
        if not unit.keys & keys and (unit.is_number or any(unit.text.casefold() in span for span in spans))
    ]


@pytest.mark.parametrize(("sentence", "source"), EQUAL)
def test_equal_values_are_found(sentence: str, source: str) -> None:
    assert lacks(sentence, source) == []


@pytest.mark.parametrize(("sentence", "source"), DIFFERENT)
def test_different_values_are_not(sentence: str, source: str) -> None:
    assert lacks(sentence, source)


@pytest.mark.parametrize(
    "text", ["version 1.2.3", "B12", "the 1990s", "192.168.0.1", "it may 10", "", "1/0 of it", "10⁶ of it"]
)
def test_what_is_no_quantity_is_left_alone(text: str) -> None:
    assert not any(each.keys for each in quantities(text))


@pytest.mark.parametrize(
    "piece",
    ["1 ", "one hundred and ", "9:00 - ", "half a ", "3 May - ", "½", "1.000.", "1 hour ", "14.05.2024 ", "1¹"],
)
def test_a_text_of_nothing_but_numbers_is_read(piece: str) -> None:
    """No pattern takes more than linear time: `python -m benchmarks.patterns` measures all of them."""
    assert keys_of(piece * 500)
