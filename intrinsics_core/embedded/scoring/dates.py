"""Days of the year: in words, in digits, and holidays."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from intrinsics_core.embedded.scoring.numbers import RANGE
from intrinsics_core.embedded.scoring.quantity import Quantity
from intrinsics_core.text.months import MONTHS, SHORT_MONTHS

_MONTH = rf"(?P<month>{'|'.join((*MONTHS, *sorted(SHORT_MONTHS, reverse=True)))})\b\.?"
_DAY_OF = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_OTHER_DAY = rf"(?:(?P<first>\d{{1,2}})(?:st|nd|rd|th)?{RANGE})?"
_DATES = (
    re.compile(rf"(?<![\w.,:]){_OTHER_DAY}{_DAY_OF}(?: +of)?[ -]+{_MONTH}", re.IGNORECASE),
    re.compile(rf"\b{_MONTH} +(?:the +)?{_OTHER_DAY}{_DAY_OF}(?![\w:]|[.,]\d)", re.IGNORECASE),
)
_YEAR_BEHIND = re.compile(r"(?:,? {1,3}(?:of {1,3})?|-)(?P<year>[12]\d{3})(?!\w|[.,]\d)")
_NUMERIC = re.compile(
    r"(?<![\w./-])(?:(?P<year>\d{4})(?P<mark>[./-])(?P<month>\d\d?)(?P=mark)(?P<day>\d\d?)"
    r"|(?P<one>\d{1,2})(?:(?P<dot>[./])(?P<two>\d{1,2})(?P=dot)(?P<last>\d{4}|\d\d)?"
    r"|-(?P<dashed>\d{1,2})-(?P<full>[12]\d{3})))(?![\w/-])"
)
_HOLIDAYS = {
    "new year's day": "1-1", "valentine's day": "2-14", "halloween": "10-31", "christmas eve": "12-24",
    "christmas day": "12-25", "boxing day": "12-26", "new year's eve": "12-31",
}  # fmt: skip
_HOLIDAY = re.compile(r"\b(?:" + "|".join(_HOLIDAYS).replace("'", "['’]?") + r")\b", re.IGNORECASE)
_DAYS_A_MONTH = 31
MONTHS_A_YEAR = 12


class Day(NamedTuple):
    """A date and where it stands, with its year: ``text[begin:end]``.

    parts: where its day and its month stand. years: those that its year may be, and none where it has none.
    """

    begin: int
    end: int
    keys: frozenset[str]
    parts: tuple[tuple[int, int], ...]
    years: frozenset[int] = frozenset()
    year_at: tuple[int, int] = (0, 0)
    in_digits: bool = False
    loose: bool = False


def worded_days(text: str) -> Iterator[Day]:
    """Dates in words, and holidays."""
    for pattern in _DATES:
        for match in pattern.finditer(text):
            if match["month"] in ("may", "mar", "march"):
                continue  # a verb
            month = next(i for i, name in enumerate(MONTHS, 1) if name.startswith(match["month"].casefold()[:3]))
            behind = _YEAR_BEHIND.match(text, match.end())
            years, at = (
                (frozenset({int(behind["year"])}), behind.span("year")) if behind else (frozenset[int](), (0, 0))
            )
            end = behind.end() if behind else match.end() - match[0].endswith(".")
            for name in ("day", "first"):
                if match[name] and int(match[name]) <= _DAYS_A_MONTH:
                    parts = match.span(name), match.span("month")
                    keys = frozenset({f"date:{month}-{int(match[name])}"})
                    yield Day(match.start(), end, keys, parts, years, at, loose=match["first"] is not None)
    for match in _HOLIDAY.finditer(text):
        keys = frozenset({"date:" + _HOLIDAYS[match[0].casefold().replace("’", "'")]})
        yield Day(*match.span(), keys, (match.span(),))


def _either_first(match: re.Match[str]) -> bool:
    """Whether a date in digits may begin with its day or with its month."""
    return bool(match["full"] or (match["dot"] == "/" and match["last"]))


def numeric_days(text: str) -> Iterator[Day]:
    """Dates in digits. Between dots the day is first; between slashes or dashes another date may say which one is."""
    found = list(_NUMERIC.finditer(text))
    either = list(filter(_either_first, found))
    days_first = any(int(match["one"]) > MONTHS_A_YEAR for match in either)
    months_first = any(int(match["two"] or match["dashed"]) > MONTHS_A_YEAR for match in either)
    for match in found:
        one, two = ("day", "month") if match["year"] else ("one", "two" if match["two"] else "dashed")
        first, second = int(match[one]), int(match[two])
        orders = [(first, second), (second, first)]  # day, month
        if _either_first(match) and months_first != days_first:
            orders = orders[months_first:][:1]
        valid = [(day, month) for day, month in orders if 1 <= month <= MONTHS_A_YEAR and 1 <= day <= _DAYS_A_MONTH]
        if match["year"] or match["dot"] == ".":
            valid = valid[:1]
        keys = frozenset(f"date:{month}-{day}" for day, month in valid)
        name = next((name for name in ("year", "last", "full") if match[name]), None)
        years = frozenset({int(match[name])} if name else ())
        if match["last"] and len(match["last"]) == 2:
            years = frozenset({int(match["last"]) + century for century in (0, 1900, 2000)})
        begin, end = min(match.start(one), match.start(two)), max(match.end(one), match.end(two))
        yield Day(*match.span(), keys, ((begin, end),), years, match.span(name) if name else (0, 0), in_digits=True)


def days(text: str) -> Iterator[Quantity]:
    """The days of the year that a text has: "3 May", "2025-05-03", "Halloween"."""
    for day in (*worded_days(text), *numeric_days(text)):
        for i, part in enumerate(day.parts):
            if day.keys:
                yield Quantity(*part, day.keys, loose=day.loose and i == 0)
        if day.in_digits and day.years:
            yield Quantity(*day.year_at, frozenset(), frozenset(map(float, day.years)))
