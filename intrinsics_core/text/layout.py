"""Sentences of text that has a layout: lists, tables, headings, code, lines, and stops of other scripts.

For profiles whose model was not trained on another splitter's sentences. A unit of layout is never joined with the
next: an item of a list, a row of a table, a heading, a line of code, a paragraph, and a line of a text that is written
in lines. A line that only ran out of room is joined with what follows. Inside a unit, prose is split at its stops; one
after an abbreviation, an initial or an item's number is none.

Markers stay with what they mark (``- Height: 8 m`` and ``1. Open it.`` are one sentence each, ``[1]`` belongs to the
sentence before it), so that nothing of the text lies outside its sentences.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import pairwise
from operator import itemgetter
from typing import NamedTuple

from intrinsics_core.text.cleaning import block_ends, regions, stands_apart
from intrinsics_core.text.lines import BOLD, QUOTED, fenced, heading_level, is_item
from intrinsics_core.text.memory import remembered
from intrinsics_core.text.prose import is_ended, sentences_of
from intrinsics_core.text.sentences import Span
from intrinsics_core.text.tables import are_csv, has_columns, is_row

_RULED = frozenset("=-_*~")
_WRAPPED = 160  # characters: a line that is longer was not broken for want of room
_NARROW = 40  # characters: lines that are all shorter are not prose that ran out of room
_LABELLED = re.compile(r"\A[^.!?:]{1,40}:\s")
_ALONE = 60  # characters from which a single line break may be such a one


@remembered(1024)
def laid_out(text: str) -> tuple[Span, ...]:
    """Sentences of a text, in order, without the whitespace between them.

    Every character that is not whitespace lies in exactly one sentence, and ``text[s.begin:s.end] == s.text`` holds
    for each. An empty or blank text has no sentences. Results are kept as those of :func:`~.sentences.punkt` are.
    """
    found: list[Span] = []
    for begin, end, prose in _units(text):
        for first, last in sentences_of(text, begin, end) if prose else ((begin, end),):
            piece = text[first:last]
            first += len(piece) - len(piece.lstrip())
            piece = piece.strip()
            if piece:
                found.append(Span(first, first + len(piece), piece))
    return tuple(found)


# --- units of layout ----------------------------------------------------------------------------------------------


def ends_in_question(text: str) -> bool:
    """Whether a question mark ends a text, maybe with quotes, brackets or emphasis behind it."""
    return text.rstrip("\"'”’)* \t\r\n").endswith(("?", "？"))


class _ProseLine(NamedTuple):
    """A line of prose: where it begins and ends, and whether it begins an item."""

    begin: int
    end: int
    item: bool


def _units(text: str) -> Iterator[tuple[int, int, bool]]:
    """(begin, end, whether prose) of each item, row, heading, line of code, line and paragraph."""
    at, blocks = 0, fenced(text)
    for region in regions(text):
        begin, end, _ = region
        if _is_inside(blocks, begin) or not stands_apart(text, region):
            continue
        yield from _units_between(text, at, begin, blocks)
        yield begin, end, False
        at = end
    yield from _units_between(text, at, len(text), blocks)


def _is_inside(blocks: Sequence[tuple[int, int]], place: int) -> bool:
    i = bisect_right(blocks, place, key=itemgetter(0)) - 1
    return i >= 0 and place < blocks[i][1]


def _units_between(
    text: str, begin: int, end: int, blocks: Sequence[tuple[int, int]]
) -> Iterator[tuple[int, int, bool]]:
    """The units of a part of a text; each line of the ``blocks`` of code is one."""
    block: list[_ProseLine] = []  # lines of prose that follow one another
    lines = text[begin:end].splitlines(keepends=True)
    at = begin
    for line in lines:
        begin, at = at, at + len(line)
        plain = line.strip()
        if not _unquoted(plain):  # ">" is the blank line of a quoted mail
            yield from _joined(text, block) if block else ()
            block = []
            continue
        level = heading_level(plain)
        alone = _is_inside(blocks, begin) or 0 < level < BOLD or _stands_alone(plain)
        bold = not alone and level == BOLD  # stands alone, too, but may say several sentences
        if alone or bold or (block and _depth(plain) != _depth(text[block[-1].begin : block[-1].end])):
            yield from _joined(text, block)
            block = []
        if alone or bold:
            yield begin, at, bold
            continue
        first, *others = _parts(line, begin)
        block.append(first)
        for part in others:
            yield from _joined(text, block)
            block = [part]
    yield from _joined(text, block)


def _parts(line: str, begin: int) -> Iterator[_ProseLine]:
    """A line of prose, cut where blocks of a page end."""
    for first, last in pairwise([0, *block_ends(line), len(line)]):
        yield _ProseLine(begin + first, begin + last, is_item(_unquoted(line[first:last]) + " "))


def _unquoted(line: str) -> str:
    """A line without the marks of a mail that it is quoted from."""
    return QUOTED.sub("", line.strip())


def _depth(line: str) -> int:
    quoted = QUOTED.match(line.strip())
    return quoted[0].count(">") if quoted else 0


def _stands_alone(line: str) -> bool:
    """Whether a line is a rule, or a row of a table."""
    return is_row(line) or "\t" in line or (len(line) > 2 and _RULED.issuperset(line))


def _joined(text: str, block: list[_ProseLine]) -> Iterator[tuple[int, int, bool]]:
    """The lines of a block, those put together that were broken for want of room."""
    if len(block) < 2:
        yield from ((line.begin, line.end, True) for line in block)
        return
    lines = [text[line.begin : line.end].rstrip() for line in block]
    bare = [_unquoted(line) for line in lines]
    width = max(map(len, lines))
    # A break was forced where the next line's first word had no room in the widest line.
    forced = [
        len(line) + 1 + len((after.split(None, 1) or [""])[0]) >= width
        for line, after in zip(lines, bare[1:], strict=False)
    ]
    inner = [full for full, line in zip(forced, block[1:], strict=True) if not line.item]
    wrapped = width <= _WRAPPED and len(inner) > 1 and sum(inner) >= 0.8 * len(inner)
    csv = are_csv(bare) or are_csv(bare[1:])
    wrapped = wrapped and width >= _NARROW and not _are_records(bare)
    begin, end = block[0].begin, block[0].end
    for i, following in enumerate(block[1:]):
        line, after = lines[i], bare[i + 1]
        stopped = is_ended(line)
        goes_on = _is_cut(line, after) or (not stopped and after[:1].islower() and len(line) > 20)
        alone = len(inner) == 1 and not stopped and _ALONE <= len(line) <= _WRAPPED and forced[i]
        columns = has_columns(line) and has_columns(after)
        if not (following.item or columns or csv) and (goes_on or alone or (wrapped and forced[i])):
            end = following.end
            continue
        yield begin, end, True
        begin, end = following.begin, following.end
    yield begin, end, True


def _is_cut(line: str, after: str) -> bool:
    """Whether a word or a number goes on in the next line."""
    cut, last, first = line[-1:] == "-", line[-2:-1], after[:1]
    return cut and ((last.islower() and first.islower()) or (last.isdigit() and first.isdigit()))


def _are_records(lines: Sequence[str]) -> bool:
    """Whether lines are each something of their own: "Monday: 9 to 17", "12:04 started", "Mona Reuter, room 12"."""
    later = [line[:1] for line in lines[1:]]
    if 2 * sum(_LABELLED.match(line) is not None for line in lines) > len(lines):
        return True
    if lines[0][:1].isdigit() and all(map(str.isdigit, later)):
        return True
    shouted = all(line == line.upper() for line in lines)
    return len(later) > 2 and not shouted and all(first.isupper() or first.isdigit() for first in later)
