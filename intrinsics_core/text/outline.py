"""What stands above a sentence of a document: its heading, what introduces its list, the item that it is below.

"The following are not covered:" says what "- water damage" means, and "- Garden Hotel" of whose price "- double room:
70 euros" below it is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from intrinsics_core.text.fences import is_fence
from intrinsics_core.text.headings import heading
from intrinsics_core.text.items import holds, in_list, mark, unmarked
from intrinsics_core.text.prose import is_ended
from intrinsics_core.text.questions import asked, is_open
from intrinsics_core.text.sentences import Span
from intrinsics_core.text.tables import is_row

_LONGEST = 25  # words of what introduces items
_SHORT = 6  # words of a heading that is read with what stands below it
_WIDEST = 300  # characters of either, which stands before each item: a line without spaces is one word
_DEEP = 3  # so many items above an item are read with it, the nearest ones
_LABELLED = re.compile(r"\A[^\W_][^.:!?|]{0,40}:\s+\S")
_STOPPED = ",;|"
_FOOTNOTES = re.compile(r"(?:\[\^?\d{1,3}\])+\Z")
_MARKS = "*_ \t:"
_TAB = 4  # spaces that a tab stands for


class Position(NamedTuple):
    """Where a sentence stands. ``front``: what it is read behind; "" for nothing. ``section``: a number that changes
    where something else begins. ``introduces``: whether it only introduces others, which are read behind it."""

    front: str
    section: int
    introduces: bool = False


@dataclass(frozen=True, slots=True)
class _Lined:
    """A sentence with the column in which it begins a line, -1 where it goes on in one, and the sentence below it.

    heads: whether it is an item that is the heading of prose ("1. Rent").
    """

    text: str
    column: int
    is_item: bool
    heading: str | None
    following: _Lined | None
    heads: bool = False


@dataclass(frozen=True, slots=True)
class _Outer:
    column: int
    mark: str
    says: str


@dataclass(slots=True)
class _Outline:
    """What stands above the sentence that comes next."""

    heading: str = ""
    introduction: str = ""
    items: list[_Outer] = field(default_factory=list)
    section: int = 0

    def front(self) -> str:
        names = (self.heading, self.introduction, *(item.says for item in self.items[-_DEEP:]))
        return ": ".join(filter(None, names))


def columns_of(text: str, spans: Sequence[Span]) -> list[int]:
    """For each sentence of a text the column in which it begins a line; -1 where it goes on in one."""
    found, end = list[int](), 0
    for span in spans:
        between = text[end : span.begin]
        *earlier, indent = between.splitlines() if between[-1:] not in "\r\n" else [between, ""]
        found.append(len(indent.expandtabs(_TAB)) if earlier or end == 0 else -1)
        end = span.end
    return found


def outline(sentences: Sequence[str], columns: Sequence[int]) -> list[Position]:
    """For each sentence of a document its place.

    Args:
        sentences: in order (`layout.laid_out`).
        columns: `columns_of` them.
    """
    lines = _lines(sentences, columns)
    several = sum(line.heading is not None for line in lines) > 1  # one heading alone tells nothing apart
    above = _Outline()
    return [_placed(line, above, several) for line in lines]


def _lines(sentences: Sequence[str], columns: Sequence[int]) -> list[_Lined]:
    found, following = list[_Lined](), None
    for text, column in zip(reversed(sentences), reversed(columns), strict=True):
        name = heading(text) if column >= 0 else None
        item = column >= 0 and name is None and in_list(text)
        line = _Lined(text, column, item, name.name if name else None, following)
        following = _Lined(text, column, item, None, None, item and _heads(text, column, following))
        found.append(line)
    return found[::-1]


def _heads(text: str, column: int, following: _Lined | None) -> bool:
    """Whether a numbered line without an end has prose of its own below it."""
    if following is None or following.is_item or following.column != column or is_row(following.text):
        return False
    return mark(text) == "1" and _has_no_end(text.strip(_MARKS))


def _placed(line: _Lined, above: _Outline, several: bool) -> Position:
    if line.heading is not None:
        return _of_heading(line, line.heading, above, several)
    if line.is_item:
        return _of_item(line, above)
    if line.column >= 0 and not (above.items and line.column > above.items[0].column):
        above.items, above.introduction = [], ""
    said = "" if above.items or not _opens(line) else _introduction(line.text)
    if said:
        above.introduction, above.section = said, above.section + 1
        return Position(above.heading, above.section, introduces=True)
    named = not above.items and (_LABELLED.match(line.text) or is_row(line.text))
    return Position(above.heading if named else "", above.section)


def _of_heading(line: _Lined, name: str, above: _Outline, several: bool) -> Position:
    above.items, above.introduction, above.section = [], "", above.section + 1
    name = unmarked(name)
    asks = bool(asked(name))
    above.heading = (
        name.strip(_MARKS) if several and not asks and len(name.split()) <= _SHORT and len(name) <= _WIDEST else ""
    )
    if _opens(line) and not above.heading:
        above.introduction = _introduction(name)
    return Position("", above.section, introduces=bool(above.introduction))


def _of_item(line: _Lined, above: _Outline) -> Position:
    kind, left = mark(line.text), False
    while above.items and not _is_above(above.items, line.column, kind):
        left = above.items.pop().column > line.column or left
    front = above.front()
    says = _introduction(unmarked(line.text)) if _opens(line) else ""
    if says or left:
        above.section += 1
    above.items.append(_Outer(line.column, kind, says))
    return Position(front, above.section, introduces=bool(says))


def _is_above(items: Sequence[_Outer], column: int, kind: str) -> bool:
    """Whether the last item is above a new one: it is indented less, or holds it as "(1)" holds "a)"."""
    last = items[-1]
    if last.column != column:
        return last.column < column
    return bool(last.says) and all(item.mark != kind for item in items[-_DEEP:] if item.column == column)


def _opens(line: _Lined) -> bool:
    """Whether a list begins below a sentence."""
    below = line.following
    if below is None or not below.is_item or (below.heads and not line.text.rstrip("*_ \t").endswith(":")):
        return False
    if not line.is_item:
        return True
    if line.column != below.column:
        return line.column < below.column
    outer, inner = mark(line.text), mark(below.text)
    return outer != inner and (line.text.endswith(":") or holds(outer, inner))


def _introduction(text: str) -> str:
    """What a sentence says of the items below it, if it is one that introduces: it has no end, a colon, or asks."""
    if is_fence(text):
        return ""
    question = asked(text)
    said = question or text.strip(_MARKS)
    introduces = is_open(question) if question else _has_no_end(said)
    return said if said and introduces and len(said) <= _WIDEST and len(said.split()) <= _LONGEST else ""


def _has_no_end(text: str) -> bool:
    """Whether no mark ends a text, footnotes behind it left out."""
    plain = _FOOTNOTES.sub("", text)
    return not (is_ended(plain) or plain.endswith(tuple(_STOPPED)))
