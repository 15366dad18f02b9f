"""Sentences of text that has a layout: lists, tables, headings, code, lines, and stops of other scripts.

For profiles whose model was not trained on another splitter's sentences. A unit of layout is never joined with the
next: an item of a list, a row of a table, a heading, a line of code, a paragraph, and a line of a text that is written
in lines. A line that only ran out of room is joined with what follows. Inside a unit, prose is split at its stops.

Markers stay with what they mark (``- Height: 8 m`` and ``1. Open it.`` are one sentence each, ``[1]`` belongs to the
sentence before it), so that nothing of the text lies outside its sentences.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from operator import itemgetter

from intrinsics_core.text.cleaning import at_block_ends, regions
from intrinsics_core.text.lines import BOLD, QUOTED, fenced, heading_level, is_item
from intrinsics_core.text.memory import remembered
from intrinsics_core.text.prose import is_ended, sentences_of
from intrinsics_core.text.sentences import Span
from intrinsics_core.text.tables import are_csv, has_columns, is_row

_RULED = frozenset("=-_*~")
_WIDTHS = range(40, 161)  # characters of the widest line of prose that ran out of room
_GOES_ON = 20  # characters from which a line goes on in one that begins with a small letter

Place = tuple[int, int]


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
            if piece := piece.strip():
                found.append(Span(first, first + len(piece), piece))
    return tuple(found)


def ends_in_question(text: str) -> bool:
    """Whether a question mark ends a text, maybe with quotes, brackets or emphasis behind it."""
    return text.rstrip("\"'”’)* \t\r\n").endswith(("?", "？"))


def _units(text: str) -> Iterator[tuple[int, int, bool]]:
    """(begin, end, whether prose) of each item, row, heading, line of code, line and paragraph."""
    at, blocks = 0, fenced(text)
    for begin, end in regions(text, rows=True):
        # A short one inside a sentence is a part of it.
        before, inner = text[max(0, begin - 3) : begin].rstrip(" \t"), text[begin:end]
        apart = before[-1:] in ("", "\n", "\r", ">") or any(mark in inner for mark in ("\n", ". ", "! ", "? "))
        if apart and not _is_inside(blocks, begin):
            yield from _units_between(text, at, begin, blocks)
            yield begin, end, False
            at = end
    yield from _units_between(text, at, len(text), blocks)


def _is_inside(blocks: Sequence[Place], place: int) -> bool:
    i = bisect_right(blocks, place, key=itemgetter(0)) - 1
    return i >= 0 and place < blocks[i][1]


def _units_between(text: str, begin: int, end: int, blocks: Sequence[Place]) -> Iterator[tuple[int, int, bool]]:
    """The units of a part of a text; each line of the ``blocks`` of code is one."""
    block: list[Place] = []  # lines of prose that follow one another
    at = begin
    for line in (part for whole in text[begin:end].splitlines(keepends=True) for part in at_block_ends(whole)):
        begin, at = at, at + len(line)
        plain, level = line.strip(), heading_level(line.strip())
        blank = not _unquoted(line)  # ">" is the blank line of a quoted mail
        coded = _is_inside(blocks, begin)
        alone = coded or level or is_row(plain) or "\t" in plain or (len(plain) > 2 and _RULED.issuperset(plain))
        if not (blank or alone):
            block.append((begin, at))
        if blank or alone or not line.endswith(("\n", "\r")):
            yield from _joined(text, block)
            block = []
        if alone and not blank:  # a line in bold, too, but it may say several sentences
            yield begin, at, level == BOLD and not coded
    yield from _joined(text, block)


def _unquoted(line: str) -> str:
    """A line without the marks of a mail that it is quoted from."""
    return QUOTED.sub("", line.strip())


def _joined(text: str, block: Sequence[Place]) -> Iterator[tuple[int, int, bool]]:
    """The lines of a block, those put together that were broken for want of room."""
    if len(block) < 2:
        yield from ((begin, end, True) for begin, end in block)
        return
    lines = [text[begin:end].rstrip() for begin, end in block]
    bare = [_unquoted(line) for line in lines]
    items = [is_item(f"{line} ") for line in bare]
    width = max(map(len, lines))
    # A break was forced where the next line's first word had no room in the widest line.
    forced = [
        len(line) + 1 + len(after.split(None, 1)[0]) >= width for line, after in zip(lines, bare[1:], strict=False)
    ]
    inner = [full for full, item in zip(forced, items[1:], strict=True) if not item]
    wrapped = width in _WIDTHS and len(inner) > 1 and sum(inner) >= 0.8 * len(inner) and not _are_records(bare)
    csv = are_csv(bare) or are_csv(bare[1:])
    begin, end = block[0]
    for i, (following, until) in enumerate(block[1:]):
        line, after = lines[i], bare[i + 1]
        goes_on = not is_ended(line) and after[0].islower() and len(line) > _GOES_ON
        apart = items[i + 1] or csv or (has_columns(line) and has_columns(after))
        if apart or not (goes_on or _is_cut(line, after) or (wrapped and forced[i])):
            yield begin, end, True
            begin = following
        end = until
    yield begin, end, True


def _is_cut(line: str, after: str) -> bool:
    """Whether a word or a number goes on in the next line."""
    last, first = line[-2:-1], after[0]
    return line.endswith("-") and ((last.islower() and first.islower()) or (last.isdigit() and first.isdigit()))


def _are_records(lines: Sequence[str]) -> bool:
    """Whether lines are each something of their own: "Monday: 9 to 17", "12:04 started", "Mona Reuter, room 12"."""
    later = [line[0] for line in lines[1:]]
    shouted = all(line == line.upper() for line in lines)
    return len(later) > 2 and not shouted and all(first.isupper() or first.isdigit() for first in later)
