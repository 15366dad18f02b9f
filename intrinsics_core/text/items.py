"""Items of lists: their marks, and how an item is read behind what introduces it."""

from __future__ import annotations

import re

from intrinsics_core.text.layout import is_item
from intrinsics_core.text.prose import ended

NUMBERED = re.compile(
    r"\A(?:[-*•]\s+)?"
    r"(?:(?:step|part|point|option|choice)\s+\d{1,2}\s*[:.)–-]|\(?\d{1,2}[.)]|\(?[a-z]\)|\(?[ivx]{1,5}\)|\[[ xX]?\]"
    r"|\d\ufe0f?\u20e3)\s+",
    re.IGNORECASE,
)
"""The number or letter of an item or a step, or its box."""
BULLET = re.compile(r"\A[-*•‣▪◦●○■□➢➤·–—]\s+")
_OTHER = re.compile(r"\A\+\s+")  # of documents alone: "+1" and "+ 5 euros" begin no item of an answer
_BOX = re.compile(r"\A(?:\[[ xX]\]|[☐☑☒])\s")
_ENDS = " \t,;"
_SPEAKS = (">", "Q:", "A:")  # a quote, and who speaks: no items, though they stand alone as items do


def in_list(line: str) -> bool:
    """Whether a line is an item of a list."""
    if NUMBERED.match(line) or _BOX.match(line):
        return True
    return is_item(line) and not line.startswith(_SPEAKS)


def unmarked(line: str) -> str:
    """A line without its bullet and its number."""
    return BULLET.sub("", NUMBERED.sub("", line)).strip()


def mark(line: str) -> str:
    """The kind of an item's mark: "1" for numbers, "a" for letters, "[" for boxes, or the bullet."""
    first = "[" if _BOX.match(line) else line.lstrip("(")[:1]
    return "1" if first.isdigit() else "a" if first.isalpha() else first


def holds(outer: str, inner: str) -> bool:
    """Whether items of one kind (`mark`) stand below one of another kind without being indented: "a)" below "(1)"."""
    return outer != inner and (outer == "1" or (outer == "a" and inner != "1"))


def behind(front: str, said: str) -> str:
    """What an item says behind what introduces it: "Not covered: water damage." It is not put there twice."""
    if not front or said.casefold().startswith(front.casefold()):
        return said
    return f"{front}: {said}"


def listed(front: str, item: str) -> str:
    """An item of a document, with its mark, as it is read behind what introduces it; as it stands behind nothing."""
    said = _OTHER.sub("", unmarked(item)).rstrip(_ENDS).removesuffix(" and").removesuffix(" or").rstrip(_ENDS)
    return ended(behind(front, said)) if front and said else item
