"""Days of the year: in words, in digits, and holidays."""

from __future__ import annotations

import re
from collections.abc import Iterator

from intrinsics_core.embedded.scoring.numbers import RANGE
from intrinsics_core.embedded.scoring.quantity import Quantity
from intrinsics_core.text.months import MONTHS, SHORT_MONTHS

_MONTH = rf"(?P<month>{'|'.join((*MONTHS, *sorted(SHORT_MONTHS, reverse=True)))})\b\.?"
_DAY_OF = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_OTHER_DAY = rf"(?:(?P<first>\d{{1,2}})(?:st|nd|rd|th)?{RANGE})?"
_DATES = (
    re.compile(rf"(?<![\w.,:]){_OTHER_DAY}{_DAY_OF}(?: +of)? +{_MONTH}", re.IGNORECASE),
    re.compile(rf"\b{_MONTH} +(?:the +)?{_OTHER_DAY}{_DAY_OF}(?![\w:]|[.,]\d)", re.IGNORECASE),
)
_NUMERIC = re.compile(
    r"(?<![\w./-])(?:(?P<year>\d{4})-(?P<month>\d\d)-(?P<day>\d\d)"
    r"|(?P<one>\d{1,2})(?P<dot>[./])(?P<two>\d{1,2})(?P=dot)(?P<last>\d{4}|\d\d)?)(?![\w/-])"
)
_HOLIDAYS = {
    "new year's day": "1-1", "valentine's day": "2-14", "halloween": "10-31", "christmas eve": "12-24",
    "christmas day": "12-25", "boxing day": "12-26", "new year's eve": "12-31",
}  # fmt: skip
_HOLIDAY = re.compile(r"\b(?:" + "|".join(_HOLIDAYS).replace("'", "['’]?") + r")\b", re.IGNORECASE)


def days(text: str) -> Iterator[Quantity]:
    """The days of the year that a text has: "3 May", "2025-05-03", "Halloween"."""
    for pattern in _DATES:
        for match in pattern.finditer(text):
            if match["month"] in ("may", "mar", "march"):
                continue  # a verb
            month = next(i for i, name in enumerate(MONTHS, 1) if name.startswith(match["month"].casefold()[:3]))
            for name in ("day", "first"):
                if match[name] and int(match[name]) <= 31:
                    keys = frozenset({f"date:{month}-{int(match[name])}"})
                    yield Quantity(*match.span(name), keys, loose=name == "first")
                    yield Quantity(*match.span("month"), keys)
    for match in _NUMERIC.finditer(text):
        names = ("month", "day") if match["year"] else ("one", "two")
        one, two = (int(match[name]) for name in names)
        orders = [(one, two)] if match["year"] else [(one, two), (two, one)]
        keys = frozenset(f"date:{month}-{day}" for month, day in orders if 1 <= month <= 12 and 1 <= day <= 31)
        if keys:
            yield Quantity(match.start(names[0]), match.end(names[1]), keys)
        if year := match["year"] or match["last"]:
            yield Quantity(*match.span(), frozenset(), frozenset({float(year)}))
    for match in _HOLIDAY.finditer(text):
        yield Quantity(*match.span(), frozenset({"date:" + _HOLIDAYS[match[0].casefold().replace("’", "'")]}))
