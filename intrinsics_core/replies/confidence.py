"""The confidence that a model states in its own label, in the ways in which models state one."""

from __future__ import annotations

import re
from typing import Any

_WORDS = {"very low": 0.1, "low": 0.3, "medium": 0.7, "moderate": 0.7, "sure": 0.9, "confident": 0.9, "high": 0.9}
_WORDS |= {"certain": 0.95} | {
    f"{very} {word}": 0.95
    for very in ("very", "highly", "completely", "absolutely")
    for word in ("high", "sure", "confident", "certain")
}
_NUMBER = r"(?:\d{1,20}(?:[.,]\d{0,20})?|[.,]\d{1,20})"
# A number, a share of another one, or a range, and what stands around it: "confidence: about 90%", "~0.9", "8/10".
_STATED = re.compile(
    r"(?:(?:my )?confidence(?: level)?(?:(?: is| of)\b|:| =)? ?)?"
    r"(?:(?:about|above|approximately|approx\.?|around|at least|between|from|more than|over|roughly)\b|~|≈|>=?|≥)? ?"
    rf"(?P<part>{_NUMBER}) ?(?P<percent>%|per ?cent)?"
    rf"(?: ?(?:/|(?:out )?of\b) ?(?P<whole>{_NUMBER})| ?(?:[-–—]|to\b|and\b) ?(?P<high>{_NUMBER}) ?(?P<also>%?))?"
    r"\+?(?: (?:confidence|confident|certainty|certain|sure))?"
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
    if word := _WORDS.get(text.removeprefix("confidence: ").removesuffix(" confidence")):
        return word
    if not (said := _STATED.fullmatch(text)):
        return None
    part, whole, high = (
        float(said[name].replace(",", ".")) if said[name] else None for name in ("part", "whole", "high")
    )
    assert part is not None
    percent = said["percent"] or said["also"]
    if whole is not None:
        return part / whole if 0 < whole >= part else None
    if high is not None:  # the lower end; 1-100 and 7-9 are none, since their lower end may be of another scale
        part, high = (part / 100, high / 100) if percent or 10 < part <= high else (part, high)
        return part if part <= high <= 1 else None
    if percent:
        return part / 100 if part <= 100 else None
    return share(part)


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
