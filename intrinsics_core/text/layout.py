"""Sentences of text that has a layout: lists, tables, headings, code, lines, and stops of other scripts.

For profiles whose model was not trained on another splitter's sentences. A unit of layout is never joined with the
next: an item of a list, a row of a table, a heading, a line of code, a paragraph, and a line of a text that is written
in lines. A line that only ran out of room is joined with what follows. Inside a unit, prose is split at its stops; one
after an abbreviation, an initial or an item's number is none.

Markers stay with what they mark (``- Height: 8 m`` and ``1. Open it.`` are one sentence each, ``[1]`` belongs to the
sentence before it), so that nothing of the text lies outside its sentences. Told from form alone; English, German and
French abbreviations are known, other languages need none or lose a little.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from intrinsics_core.text.memory import remembered
from intrinsics_core.text.sentences import Span

_FENCE = re.compile(r"(?:```|~~~)")
_HEADING = re.compile(r"\A(?:#{1,6}\s|[=\-_*~]{3,}+\Z)")
_BOLD_LINE = re.compile(r"\A(\*\*|__)[^*_]++\1:?\Z")
_ROW = re.compile(r"\A(?:\||[^|\t]*+(?:\|[^|\t]*+\||\t[^|\t]))")
_ITEM = re.compile(
    r"(?:[-*+•‣▪◦●○■□➢➤✓✔·–—>]|\(?\d{1,3}[.)\]]|\(?[a-zA-Z]\)|[a-z]\.|\(?[ivxIVX]{1,5}\)|[①-⑳㈠-㈩]|[一二三四五六七八九十]{1,3}、)"
    r"(?:\s|(?<=、)|(?<=[①-⑳㈠-㈩]))|Q:|A:"
)
_MARKS = re.compile(rf"(?:(?:{_ITEM.pattern})\s*+(?:\[[ xX]\]\s++)?+)++")
_STOPPED = re.compile(r"[.!?…。！？｡:：;；؟۔।॥።][\"'”’»)\]）」』*_]*+\Z")
_WRAPPED = 160  # characters: a line that is longer was not broken for want of room
_ALONE = 60  # characters from which a single line break may be such a one

_CLOSING = "\"'”’»)]}）」』】》*_"
_STOP = re.compile(
    r"(?P<wide>(?:[。！？｡]|．(?!\d))++[”’」』）】》\"')\]]*+)"
    # Looked for at the first mark of a run alone: from each of a thousand dots it would run over all the others.
    r"|(?<![.!?…‼⁇⁈⁉؟۔।॥።])(?P<marks>[.!?…‼⁇⁈⁉؟۔।॥።]++)(?P<close>[\"'”’»)\]}*_]*+(?:\[\^?\d{1,3}(?:[,–-]\s?\d{1,3})*+\])*+)(?=\s)"
)
_WORD_BEFORE = re.compile(r"[^\s(\[\"“‘'„«/]*\Z")
_LETTERED = re.compile(r"\A(?:[^\W\d_]\.)++[^\W\d_]?\Z")
_NEXT = re.compile(r"\s*+([\"'“‘„«(\[*_]*+)(\w*+)")
_BEFORE = 24  # characters before a stop that are looked at: no abbreviation is longer


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Never the end of a sentence: a name, a number or a comparison follows.
_TITLES = _words("dr mr mrs ms mx prof rev gen col sgt capt lt cmdr hon sen rep gov st mt hr fr bzgl bzw z.b d.h u.a "
                 "vs cf viz approx ca e.g i.e messrs mme mlle")  # fmt: skip
# No end before a number: "No. 5", "Fig. 2", "Jan. 3".
_NUMBERED = _words("no nos nr fig figs eq eqs sec sect ch vol vols pp p pg art arts para cl ex app tab ver v jan feb "
                   "mar apr jun jul aug sep sept oct nov dec")  # fmt: skip
# An end only where a word follows that begins sentences.
_OFTEN = _words("inc ltd co corp jr sr bros al dept univ assn est etc ave blvd rd min max ed eds trans usw evtl")
_HOURS = _words("a.m p.m")
_STARTERS = _words(
    """
    a an the this that these those it its he she they we you i his her their our my your there here in on at
    for from by with as if when while after before since although though however but and so yet no not yes all
    some many most each both one who what where why how please contact also then thus please see der die das
    er sie es wir ein eine le la les il elle un une
    """
)
_DAYS = _words(
    """
    monday tuesday wednesday thursday friday saturday sunday january february march april may june july august
    september october november december et est pt pst gmt utc cet
    """
)


@remembered(1024)
def laid_out(text: str) -> tuple[Span, ...]:
    """Sentences of a text, in order, without the whitespace between them.

    Every character that is not whitespace lies in exactly one sentence, and ``text[s.begin:s.end] == s.text`` holds
    for each. An empty or blank text has no sentences. Results are kept as those of :func:`~.sentences.punkt` are.
    """
    found: list[Span] = []
    for begin, end, prose in _units(text):
        for first, last in _prose(text, begin, end) if prose else ((begin, end),):
            piece = text[first:last]
            first += len(piece) - len(piece.lstrip())
            piece = piece.strip()
            if piece:
                found.append(Span(first, first + len(piece), piece))
    return tuple(found)


# --- units of layout ----------------------------------------------------------------------------------------------


def ended(text: str) -> str:
    """The text with a period behind it, where no mark of its own ends it."""
    text = text.rstrip()
    return text if _STOPPED.search(text[-_BEFORE:]) else f"{text}."


def fenced(text: str) -> list[tuple[int, int]]:
    """(begin, end) of each block of code between two fences, with the fences and the end of the last line.

    One that is not closed goes on to the end of the text.
    """
    found, at, opened = [], 0, -1
    for line in text.splitlines(keepends=True):
        begin, at = at, at + len(line)
        if is_fence(line):
            if opened >= 0:
                found.append((opened, at))
            opened = begin if opened < 0 else -1
    return [*found, (opened, len(text))] if opened >= 0 else found


def is_item(line: str) -> bool:
    """Whether a line begins like an item of a list."""
    return _ITEM.match(line.lstrip()) is not None


def mark_of(line: str) -> str:
    """The marks of an item or a quotation that a line begins with, with the space behind them; empty if it has none."""
    found = _MARKS.match(line)
    return found[0] if found else ""


def is_fence(line: str) -> bool:
    """Whether a line begins or ends a block of code, and says nothing itself."""
    return _FENCE.match(line.strip()) is not None


def _units(text: str) -> Iterator[tuple[int, int, bool]]:
    """(begin, end, whether prose) of each item, row, heading, line of code, line and paragraph."""
    block: list[tuple[int, int, bool]] = []  # lines of prose that follow one another: begin, end, begins an item
    at, code = 0, False
    for line in text.splitlines(keepends=True):
        begin, at = at, at + len(line)
        plain = line.strip()
        fence = is_fence(plain)
        alone = code or fence or _HEADING.match(plain) is not None or _ROW.match(plain) is not None
        code ^= fence
        bold = _BOLD_LINE.match(plain) is not None  # stands alone, too, but what it says may be several sentences
        if plain and not alone and not bold:
            block.append((begin, at, _ITEM.match(plain + " ") is not None))
            continue
        yield from _joined(text, block)
        block = []
        if plain:
            yield begin, at, bold and not alone
    yield from _joined(text, block)


def _joined(text: str, block: list[tuple[int, int, bool]]) -> Iterator[tuple[int, int, bool]]:
    """The lines of a block, those put together that were broken for want of room."""
    if not block:
        return
    lines = [text[begin:end].rstrip() for begin, end, _ in block]
    width = max(map(len, lines))
    # A break was forced where the next line's first word had no room in the widest line.
    forced = [len(line) + 1 + len(after.split(None, 1)[0]) >= width for line, after in pairwise(lines)]
    inner = [full for full, (_, _, item) in zip(forced, block[1:], strict=True) if not item]
    wrapped = width <= _WRAPPED and len(inner) > 1 and sum(inner) >= 0.8 * len(inner)
    begin, end, _ = block[0]
    for i, (first, last, item) in enumerate(block[1:]):
        line, after = lines[i], lines[i + 1].lstrip()
        stopped = _STOPPED.search(line[-_BEFORE:]) is not None
        goes_on = not stopped and after[:1].islower() and len(line) > 20
        alone = len(inner) == 1 and not stopped and _ALONE <= len(line) <= _WRAPPED and forced[i]
        if not item and (goes_on or alone or (wrapped and forced[i])):
            end = last
            continue
        yield begin, end, True
        begin, end = first, last
    yield begin, end, True


# --- sentences of prose -------------------------------------------------------------------------------------------


def _prose(text: str, begin: int, end: int) -> Iterator[tuple[int, int]]:
    """Cuts of one unit after its stops."""
    start = begin
    for stop in _STOP.finditer(text, begin, end):
        if _ends(text, start, stop, end):
            yield start, stop.end()
            start = stop.end()
    yield start, end


def _is_first(text: str, start: int, place: int) -> bool:
    """Whether a number here would be that of an item: at a sentence's beginning, or after a colon."""
    before = text[max(start, place - _BEFORE) : place].rstrip("*_-•( \t\r\n")
    return before.endswith((":", ";")) or (not before and place - start <= _BEFORE)


def _ends(text: str, start: int, stop: re.Match[str], end: int) -> bool:
    """Whether a sentence that began at ``start`` ends at this stop."""
    if stop["wide"]:
        quoted = stop["wide"][-1] in "”」』’"
        return not (quoted and text[stop.end() : stop.end() + 1] in tuple("とっ、，,って"))
    after = _NEXT.match(text, stop.end(), end)
    follower = after[2][:_BEFORE] if after else ""
    if stop["marks"] != ".":
        return not follower[:1].islower()
    word = _WORD_BEFORE.search(text[max(start, stop.start() - _BEFORE) : stop.start()])
    before = word[0].lstrip("*_") if word else ""
    lower, next_word = before.casefold(), follower.casefold()
    capital = not follower[:1].islower()
    starts = capital and next_word in _STARTERS
    if stop["close"].strip("*_"):
        return capital
    if before.isdigit() and len(before) <= 3 and _is_first(text, start, stop.start() - len(before)):
        return False  # the number of an item
    if lower in _TITLES:
        return False
    if lower in _NUMBERED:
        return capital and not follower[:1].isdigit()
    if lower in _HOURS:
        return capital and next_word not in _DAYS and not (after and after[1].startswith("("))
    if lower in _OFTEN or (_LETTERED.match(lower + ".") and not before.isdigit()):
        return starts
    if not capital:
        return len(before) > 2 and before[-1].isalpha() and before.isascii() and not stop["close"]
    return True
