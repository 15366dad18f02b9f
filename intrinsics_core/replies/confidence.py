"""The confidence that a model states in its own label."""

from __future__ import annotations

import re
from typing import Any

_STATED = re.compile(r"(\d{1,20}(?:[.,]\d{0,20})?|[.,]\d{1,20}) ?(?:(%)|/ ?(\d{1,20}))?")
_ABOVE_EVEN = 0.01  # what a label is above an even chance where no confidence counts: it still decides


def share(stated: Any) -> float | None:
    """A confidence in 0..1: a share, a number from 10 up to 100, or a text of either, with % or as ``8/10``.

    10 is 10 of 10, since nobody chooses a label that is 10% likely. None where it is none of these. So is 7, which may
    be 7% or 7 of 10.
    """
    if isinstance(stated, str):
        if not (said := _STATED.fullmatch(stated.strip())):
            return None
        number, whole = float(said[1].replace(",", ".")), 100 if said[2] else float(said[3] or 1)
        if said[2] or said[3]:
            return number / whole if 0 < whole >= number else None
        return share(number)
    if isinstance(stated, bool) or not isinstance(stated, int | float):
        return None
    if stated == 10:
        return 1.0
    found = stated / 100 if 10 < stated <= 100 else stated
    return float(found) if 0 <= found <= 1 else None


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
