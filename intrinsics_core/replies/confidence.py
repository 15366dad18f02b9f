"""The confidence that a model states in its own label, in the ways in which models state one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_WORDS: Mapping[str, float] = {
    "very high": 0.95,
    "high": 0.9,
    "medium": 0.7,
    "moderate": 0.7,
    "low": 0.3,
    "very low": 0.1,
}
_NUMBER = r"(?:\d{1,20}(?:[.,]\d{0,20})?|[.,]\d{1,20})"
_SHARE = re.compile(rf"(?P<part>{_NUMBER}) ?(?:(?P<percent>%|per ?cent)|(?:/|(?:out )?of\b) ?(?P<whole>{_NUMBER}))?")
_ABOVE_EVEN = 0.01  # what a label is above an even chance where no confidence counts: it still decides


def share(stated: Any) -> float | None:
    """A confidence in 0..1: a share, a number above 10 up to 100, a text of either, any with %, ``8/10``, or a word.

    None where it is none of these. So is 7, which may be 7% or 7 of 10.
    """
    percent = False
    if isinstance(stated, str):
        text = " ".join(stated.casefold().split()).rstrip(".")
        if text in _WORDS:
            return _WORDS[text]
        if not (match := _SHARE.fullmatch(text)):
            return None
        stated, percent = _number(match["part"]), bool(match["percent"])
        if match["whole"]:
            whole = _number(match["whole"])
            return stated / whole if whole > 0 and stated <= whole else None
    if isinstance(stated, bool) or not isinstance(stated, int | float):
        return None
    found = stated / 100 if percent or 10 < stated <= 100 else stated
    return float(found) if 0 <= found <= 1 else None


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
