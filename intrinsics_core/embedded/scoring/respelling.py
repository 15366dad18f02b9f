"""Equal numbers, amounts, times and dates in one spelling, for models that read words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from intrinsics_core.embedded.scoring.dates import MONTHS_A_YEAR, Day, numeric_days, worded_days
from intrinsics_core.embedded.scoring.numbers import value_key
from intrinsics_core.embedded.scoring.quantities import evened, quantities
from intrinsics_core.embedded.scoring.quantity import Quantity

_NOT_PLAIN = re.compile(r"\d[.,'’\s]\d{3}(?!\d)|[^\w\s.,-]|[^\W\d_a-z]|[²³¹⁰-⁹]|[^\W\d_][\s-]+[^\W\d_]", re.IGNORECASE)


class _Respelled(NamedTuple):
    begin: int
    end: int
    spelling: str


def spelled_as_in(source: str, text: str) -> str:
    """The text with each number, amount, time or date in the source's spelling, where the source has the same one.

    A small model does not know that "9 p.m." is "21:00", that "1.5 kg" are "1500 g", or which day "14.05.2024" is.
    """
    changes = [*_amounts_as_in(source, text), *_days_as_in(source, text)]
    parts, at = list[str](), 0
    for change in sorted(changes, key=lambda each: (each.begin, -each.end)):
        if change.begin >= at:
            parts += [text[at : change.begin], change.spelling]
            at = change.end
    return "".join(parts) + text[at:]


def _amounts_as_in(source: str, text: str) -> Iterator[_Respelled]:
    theirs = {key: each for each in reversed(quantities(source)) for key in _compared(each)}
    spellings = {source[each.begin : each.end] for each in quantities(source)}
    for mine in quantities(text) if theirs else ():
        own = text[mine.begin : mine.end]
        same = next((theirs[key] for key in sorted(_compared(mine)) if key in theirs), None)
        if same and own not in spellings:
            spelling = source[same.begin : same.end]
            if mine.keys or _NOT_PLAIN.search(spelling) or _NOT_PLAIN.search(own):
                yield _Respelled(mine.begin, mine.end, spelling)


def _compared(each: Quantity) -> set[str]:
    """The keys of an amount or a time; of a number without a unit its values."""
    if each.keys:
        return {key for key in each.keys if not key.startswith("date:")}
    return {value_key(value) for value in each.values}


def _days_as_in(source: str, text: str) -> Iterator[_Respelled]:
    """Dates of which one is in digits and the other in words, or both in digits in another order."""
    theirs = list(_whole_days(source))
    for mine in _whole_days(text) if theirs else ():
        for day in theirs:
            agree = not day.years or not mine.years or day.years & mine.years
            if day.keys & mine.keys and agree and (day.in_digits or mine.in_digits):
                spelling = source[day.begin : day.end]
                if mine.years and not day.years:
                    spelling += " " + text[slice(*mine.year_at)]
                yield _Respelled(mine.begin, mine.end, spelling)
                break


def _whole_days(text: str) -> Iterator[Day]:
    """The dates of a text, without ranges and without what may be a fraction or a price."""
    plain = evened(text)
    for day in (*worded_days(plain), *numeric_days(plain)):
        above = any(int(number) > MONTHS_A_YEAR for number in re.findall(r"\d+", plain[day.begin : day.end]))
        if day.keys and not day.loose and (not day.in_digits or day.years or above):
            yield day
