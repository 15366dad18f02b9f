"""Times of the day, in minutes since midnight, and the parts of the day that they are in."""

from __future__ import annotations

import re
from collections.abc import Iterator

from intrinsics_core.embedded.scoring.numbers import CARDINAL_VALUES, ONES, RANGE, value_of_words
from intrinsics_core.embedded.scoring.quantity import Quantity

_HOUR_WORD = "|".join(ONES.split()[1:13])
_HALF_DAY = r"(?P<half_day>[ap]\.? ?m\b\.?|o['’]?clock(?: +in +the +(?:morning|afternoon|evening)| +at +night)?|in +the +(?:morning|afternoon|evening)|at +night)"  # noqa: E501
_CLOCK = re.compile(
    rf"(?<![\w.,:])(?:(?:(?P<other>\d{{1,2}}(?:[:.]\d\d)?){RANGE})?(?P<hour>\d{{1,2}})(?:(?P<colon>[:.h])(?P<minute>\d\d)(?![\d]|[.:]\d))?|(?P<word>{_HOUR_WORD})) ?"  # noqa: E501
    rf"(?:{_HALF_DAY}|(?P<on_clock>(?:h|hrs?|Uhr)\b))?",
    re.IGNORECASE,
)
_PAST = re.compile(
    rf"\b(?P<minutes>half|(?:a +)?quarter|five|ten|twenty(?:[ -]five)?)(?: +minutes)? +(?P<way>past|to) +"
    rf"(?P<hour>{_HOUR_WORD}|\d{{1,2}})\b(?: ?{_HALF_DAY})?",
    re.IGNORECASE,
)
_NAMED_TIME = re.compile(r"\b(?P<name>noon|midday|midnight)\b", re.IGNORECASE)
_DAY = 24 * 60


def _minutes(hour: int, minute: int, half_day: str) -> frozenset[int]:
    """The minutes of the day that a time may be: "nine o'clock" is one of two."""
    said = half_day.casefold().replace(".", "").replace(" ", "")
    if hour > 24 or minute > 59:
        return frozenset()
    if hour > 12 or (hour == 0 and not said):
        return frozenset({(hour * 60 + minute) % _DAY})
    morning = (hour % 12) * 60 + minute
    if said == "am" or "morning" in said:
        return frozenset({morning})
    if said == "pm" or "afternoon" in said or "evening" in said or ("night" in said and 5 < hour < 12):
        return frozenset({morning + _DAY // 2})
    return frozenset({morning, morning + _DAY // 2})


PARTS_OF_THE_DAY = frozenset({"morning", "afternoon", "evening", "night"})
_TIMES_OF_DAY = (("morning", 4, 12), ("afternoon", 12, 18), ("evening", 17, 24), ("night", 20, 24), ("night", 0, 6))


def _at(begin: int, end: int, minutes: frozenset[int], loose: bool = False) -> Iterator[Quantity]:
    if minutes:
        keys = frozenset(f"clock:{minute}" for minute in minutes)
        parts = [{part for part, since, till in _TIMES_OF_DAY if since <= minute / 60 < till} for minute in minutes]
        implied = frozenset(f"part:{part}" for part in set.intersection(*parts))
        hours = frozenset(float(minute // 60 % 12 or 12) for minute in minutes)
        yield Quantity(begin, end, keys, hours, implied=implied, loose=loose)


def clocks(text: str) -> Iterator[Quantity]:
    """The times of the day that a text has: "9 p.m.", "half past nine", "noon"."""
    for match in _CLOCK.finditer(text):
        half_day = match["half_day"] or ""
        on_clock = match["colon"] in (":", "h", "H") or (match["colon"] and match["on_clock"])
        if not half_day and not on_clock:
            continue  # a number
        hour = int(CARDINAL_VALUES[match["word"].casefold()]) if match["word"] else int(match["hour"])
        start = match.start("word") if match["word"] else match.start("hour")
        yield from _at(start, match.end(), _minutes(hour, int(match["minute"] or 0), half_day))
        if match["colon"] in ("h", "H"):  # "2h30" may be how long it takes
            yield Quantity(start, match.end(), frozenset({f"s:{3600 * hour + 60 * int(match['minute'])}"}), loose=True)
        if match["other"]:
            other = [int(part) for part in re.split(r"[:.]", match["other"])]
            meant = _minutes(other[0], other[1] if other[1:] else 0, "")
            yield from _at(match.start("other"), match.end("other"), meant, loose=True)
    for match in _PAST.finditer(text):
        word, said = match["hour"].casefold(), match["minutes"].casefold()
        hour = int(word) if word.isdigit() else int(CARDINAL_VALUES[word])
        minutes = 30 if said == "half" else 15 if "quarter" in said else int(value_of_words(said))
        if match["way"].casefold() == "to":
            hour, minutes = (hour - 1) or 12, 60 - minutes
        yield from _at(*match.span(), _minutes(hour, minutes, match["half_day"] or ""))
    for match in _NAMED_TIME.finditer(text):
        yield from _at(*match.span(), frozenset({0 if match["name"].casefold() == "midnight" else _DAY // 2}))
