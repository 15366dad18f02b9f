"""The confidence that a model states in its own label, in the ways in which models state one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_WORDS: Mapping[str, float] = {
    "absolutely certain": 0.95,
    "completely certain": 0.95,
    "certain": 0.95,
    "very certain": 0.95,
    "very confident": 0.95,
    "highly confident": 0.95,
    "very sure": 0.95,
    "very high": 0.95,
    "confident": 0.9,
    "sure": 0.9,
    "high": 0.9,
    "medium": 0.7,
    "moderate": 0.7,
    "low": 0.3,
    "very low": 0.1,
}
_NUMBER = r"(?:\d{1,20}(?:[.,]\d{0,20})?|[.,]\d{1,20})"
_SHARE = re.compile(rf"(?P<part>{_NUMBER}) ?(?:(?P<percent>%|per ?cent)|(?:/|(?:out )?of\b) ?(?P<whole>{_NUMBER}))?")
# What stands around it: "confidence: about 90%", "~0.9", "at least 0.9", "high confidence", "90% confident".
_AROUND = re.compile(
    r"\A(?:(?:my )?confidence(?: level)?(?:(?: is| of)\b|:| =)? ?)?"
    r"(?:(?:about|above|approximately|approx\.?|around|at least|more than|over|roughly)\b|~|≈|>=?|≥)? ?"
    r"(?P<said>.*?)\+?(?: (?:confidence|confident|certainty|certain|sure))?\Z"
)
_RANGE = re.compile(
    rf"\A(?:between |from )?(?P<low>{_NUMBER}) ?(?P<percent>%?) ?(?:[-–—]|to\b|and\b) ?"
    rf"(?P<high>{_NUMBER}) ?(?P<also>%?)\Z"
)
_ABOVE_EVEN = 0.01  # what a label is above an even chance where no confidence counts: it still decides


def share(stated: Any) -> float | None:
    """A confidence in 0..1: a share, a number from 10 up to 100, a text of either, any with %, ``8/10``, or a word.

    A text may say "about", "confidence" or a remark in brackets with it. Of a range it is the lower end. 10 is 10 of
    10, since nobody chooses a label that is 10% likely. None where it is none of these. So is 7, which may be 7% or 7
    of 10.
    """
    if isinstance(stated, str):
        return _of_text(" ".join(stated.casefold().split()).rstrip("."))
    if isinstance(stated, bool) or not isinstance(stated, int | float):
        return None
    if stated == 10:
        return 1.0
    found = stated / 100 if 10 < stated <= 100 else stated
    return float(found) if 0 <= found <= 1 else None


def _of_text(text: str) -> float | None:
    if text.endswith(")"):
        text = text.rpartition("(")[0].rstrip()
    for said in (text, _AROUND.sub(r"\g<said>", text)):
        if said in _WORDS:
            return _WORDS[said]
        if match := _SHARE.fullmatch(said):
            return _of_share(_number(match["part"]), match["percent"], match["whole"])
        if match := _RANGE.match(said):
            return _of_range(_number(match["low"]), _number(match["high"]), match["percent"] or match["also"])
    return None


def _of_share(part: float, percent: str | None, whole: str | None) -> float | None:
    if whole:
        return part / _number(whole) if 0 < _number(whole) >= part else None
    if percent:
        return part / 100 if part <= 100 else None
    return share(part)


def _of_range(low: float, high: float, percent: str) -> float | None:
    """The lower end; 1-100 and 7-9 are none, since their lower end may be of another scale."""
    if percent or 10 < low <= high:
        low, high = low / 100, high / 100
    return low if low <= high <= 1 else None


def _number(text: str) -> float:
    return float(text.replace(",", "."))


def in_label(stated: Any, options: int) -> float:
    """The probability of the label that a model chose of so many ``options``, by the confidence that it states.

    Nothing stated leaves the label alone: 1. What is stated and cannot be read is hardly more than an even chance. So
    is less than an even chance: it contradicts the label, and the label counts.
    """
    even = 1 / options
    if stated is None:
        return 1.0
    confidence = share(stated)
    return even + _ABOVE_EVEN if confidence is None or confidence < even else confidence
