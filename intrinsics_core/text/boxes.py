"""Boxes that are ticked or not, in words: "[x] vegan" is "vegan: yes", and "[ ] vegan" is "not vegan".

In a list to be ticked ("☐ Lock the cabinet") an empty box says nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from intrinsics_core.text.prose import ended, is_ended

_BOX = re.compile(r"(?<!\S)(\[[ xX✓✔]\]|[☐☑☒🗹])(?=\s|\Z)")
_EMPTY = ("[ ]", "☐")
_BULLET = re.compile(r"(?:[-*+•]|\d{1,2}[.)])?\Z")
_ENDS = " \t\r\n.,;:|"


def in_words(sentences: Sequence[str]) -> list[str]:
    """The sentences of a document with what their boxes say.

    Where none is ticked, a box that begins a line is the mark of an item.
    """
    ticked = any(box not in _EMPTY for text in sentences for box in _BOX.findall(text))
    return [_said(text) if ticked else _item(text) for text in sentences]


def _said(text: str) -> str:
    """A sentence with what stands behind each of its boxes, or before them where the last has nothing behind it.

    Prose may speak of boxes: "Use [ ] for an empty list." So the sentence begins with one, or a colon stands before the
    first, or it has no end mark and several, or one at its end.
    """
    before, *rest = _BOX.split(text)
    if not rest:
        return text
    opened = _BULLET.match(before.strip()) or before.rstrip().endswith(":")
    if not opened and (is_ended(text) or not (rest[2:] or not rest[-1].strip())):
        return text
    marks, names = rest[::2], [name.strip(_ENDS) for name in rest[1::2]]
    opening = "" if _BULLET.match(before.strip()) else before.strip(_ENDS)
    if not names[-1]:  # "shower [x] bathtub [ ]"
        names, opening = [opening, *names[:-1]], ""
    told = [f"not {name}" if box in _EMPTY else f"{name}: yes" for box, name in zip(marks, names, strict=True) if name]
    said = "; ".join(told)
    return ended(f"{opening}: {said}" if opening and said else said or opening) if told else text


def _item(text: str) -> str:
    """A sentence without the box that begins it, if it has no other one."""
    before, *rest = _BOX.split(text)
    is_mark = len(rest) == 2 and _BULLET.match(before.strip()) and rest[1].strip(_ENDS)
    return ended(rest[1].strip()) if is_mark else _said(text)
