"""Boxes that are ticked or not, in words: "[x] vegan" is "vegan: yes", and "[ ] vegan" is "not vegan"."""

from __future__ import annotations

import re

from intrinsics_core.text.prose import ended

_BOX = re.compile(r"(?<!\S)(\[[ xX✓✔]\]|[☐☑☒🗹])(?=\s|\Z)")
_EMPTY = ("[ ]", "☐")
_BULLET = re.compile(r"(?:[-*+•]|\d{1,2}[.)])?\Z")
_ENDS = " \t\r\n.,;:|"


def has_box(text: str) -> bool:
    """Whether a sentence has a box."""
    return _BOX.search(text) is not None


def in_words(text: str) -> str:
    """A sentence with what stands behind each of its boxes, or before them where the last has nothing behind it."""
    before, *rest = _BOX.split(text)
    if not rest:
        return text
    marks, names = rest[::2], [name.strip(_ENDS) for name in rest[1::2]]
    opening = "" if _BULLET.match(before.strip()) else before.strip(_ENDS)
    if not names[-1]:  # "shower [x] bathtub [ ]"
        names, opening = [opening, *names[:-1]], ""
    told = [f"not {name}" if box in _EMPTY else f"{name}: yes" for box, name in zip(marks, names, strict=True) if name]
    said = "; ".join(told)
    return ended(f"{opening}: {said}" if opening and said else said or opening) if told else text
