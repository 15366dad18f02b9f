"""From a verbatim quote to its offsets in the caller's text.

Models quote almost verbatim. So a quote is looked for as it is, then with what does not change its words made alike in
both texts: Unicode compatibility forms (NFKC) and case, runs of whitespace, quotation marks, dashes, invisible
characters; then without the marks of Markdown, too. An ellipsis or quotation marks around it may be missing.

What is found is a span of the caller's own text, whole characters with all their combining marks. Letters and digits
are never skipped or guessed: a quote with other words in it, or with a gap, is not found. Time is linear.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

Found = tuple[int, int]

_ATTEMPTS = 64  # matches tried that begin or end within a character, such as the 1 of ½
_LONGEST = 32  # characters of one cluster: more combining marks than any writing has (UAX #15, stream-safe)
_FROM_PRIVATE = 0xF0000  # characters from here on stand for clusters of several characters while matching
_OTHER = "\U0010ffff"  # a cluster that does not occur in the quote

_ALIKE = dict.fromkeys("\"'`´‘’‚‛“”„‟‹›«»′″‵‶ʹʼ「」『』＂＇", "'") | dict.fromkeys("-‐‑‒–—―−⸺⸻﹘﹣－", "-") | {"…": "…"}
_INVISIBLE = dict.fromkeys(
    [
        0xAD, 0x34F, 0x61C, *range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2065), 0xFEFF,
        *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0),
    ]
)  # fmt: skip
_AROUND = frozenset(" …'")  # may stand around a quote without belonging to it
_EMPTY = frozenset(" …'-")  # what alone is no quote
_BULLETS = frozenset("#>-+•")
_JOINER = "\u200d"


def locate(quote: str, text: str) -> Found | None:
    """(begin, end) of a quote: ``text[begin:end]`` says what it says. None where it is blank or is not there.

    Of several places the first counts that does not begin or end within a word, else the first.
    """
    found = locate_all(quote, text)
    if not found:
        return None
    return next((place for place in found if _whole_words(text, *place)), found[0])


def locate_all(quote: str, text: str) -> list[Found]:
    """All places of a quote, in order, without overlaps; only the literal ones where there are any."""
    quote = quote.strip()
    if not quote:
        return []
    if exact := list(_exact(quote, text)):
        return exact
    for marks in (True, False):
        wanted, folded = _trimmed(_fold(quote, marks).units, {" "}), None
        for needle in dict.fromkeys((wanted, _trimmed(wanted, _AROUND))):
            if not set(needle) <= _EMPTY:
                folded = folded or _fold(text, marks)
                if found := list(_matches(needle, folded)):
                    return found
    return []


def occurrences(words: str, text: str, *, overlapping: bool = False) -> Iterator[int]:
    """Where words begin in a text, letter by letter, in order."""
    step = 1 if overlapping else max(1, len(words))
    begin = text.find(words)
    while begin >= 0:
        yield begin
        begin = text.find(words, begin + step)


def _exact(quote: str, text: str) -> Iterator[Found]:
    for begin in occurrences(quote, text):
        end = begin + len(quote)
        if not _joined(text, begin) and not _joined(text, end):
            yield begin, end


def _joined(text: str, at: int) -> bool:
    """Whether a cut here would part a character from its marks, or an emoji from what it is joined to."""
    if at >= len(text) or text[at] < "\u0300":
        return False
    return _extends(text[at]) or (text[at - 1 : at] == _JOINER and _joinable(text[at]))


def _joinable(character: str) -> bool:
    """Whether a joiner before it makes one emoji of two; between letters it does not."""
    return character > "\u2000" and not character.isalnum() and not character.isspace()


def _whole_words(text: str, begin: int, end: int) -> bool:
    return not (text[begin - 1 : begin].isalnum() and text[begin].isalnum()) and not (
        text[end : end + 1].isalnum() and text[end - 1].isalnum()
    )


def _trimmed(units: Sequence[str], around: set[str] | frozenset[str]) -> tuple[str, ...]:
    begin, end = 0, len(units)
    while begin < end and units[begin] in around:
        begin += 1
    while begin < end and units[end - 1] in around:
        end -= 1
    return tuple(units[begin:end])


# --- matching ---------------------------------------------------------------------------------------------------------


class _Folded(NamedTuple):
    """A text as units to compare; unit k comes from ``text[begins[k]:ends[k]]``.

    A unit is a character with its combining marks. Several have one place where a character stands for several: ½, ﬁ.
    """

    units: list[str]
    begins: list[int]
    ends: list[int]

    def add(self, unit: str, begin: int, end: int) -> None:
        self.units.append(unit)
        self.begins.append(begin)
        self.ends.append(end)


def _matches(needle: Sequence[str], folded: _Folded) -> Iterator[Found]:
    codes = {unit: chr(_FROM_PRIVATE + n) for n, unit in enumerate(dict.fromkeys(needle)) if not _plain(unit)}
    wanted, shown = _coded(needle, codes), _coded(folded.units, codes)
    begins, ends, size = folded.begins, folded.ends, len(needle)
    at = failed = 0
    while (k := shown.find(wanted, at)) >= 0 and failed < _ATTEMPTS:
        last = k + size
        inside = k > 0 and begins[k] == begins[k - 1]
        if inside or (last < len(begins) and begins[last] == begins[last - 1]):
            at, failed = k + 1, failed + 1
        else:
            yield begins[k], ends[last - 1]
            at = last


def _coded(units: Sequence[str], codes: dict[str, str]) -> str:
    """One character per unit, so that a search in strings is one in units."""
    return "".join(unit if _plain(unit) else codes.get(unit, _OTHER) for unit in units)


def _plain(unit: str) -> bool:
    return len(unit) == 1 and ord(unit) < _FROM_PRIVATE


# --- what counts as alike ---------------------------------------------------------------------------------------------


def _fold(text: str, marks: bool) -> _Folded:
    """The text in units; ``marks`` are those of Markdown."""
    folded, at, fresh = _Folded([], [], []), 0, True  # fresh: nothing but space and marks on this line so far
    while at < len(text):
        character = text[at]
        if character.isspace():
            _space(folded, at)
            fresh, at = fresh or character in "\n\r\u2028\u2029", at + 1
            continue
        if not marks and (after := _after_mark(text, at, fresh)) > at:
            at = after
            continue
        fresh = False
        if character.isascii() and character.isalnum() and text[at + 1 : at + 2] < "\u0300":  # almost all text
            folded.add(character.lower(), at, at + 1)
            at += 1
            continue
        end = _cluster_end(text, at)
        for unit in _units(text[at:end]):
            _append(folded, unit, at, end)
        at = end
    return folded


def _space(folded: _Folded, at: int) -> None:
    if folded.units and folded.units[-1] == " ":
        folded.ends[-1] = at + 1
    else:
        folded.add(" ", at, at + 1)


def _append(folded: _Folded, unit: str, begin: int, end: int) -> None:
    """Runs of dashes are one dash, two dots or more are an ellipsis."""
    before = folded.units[-1] if folded.units else ""
    if unit == "-" == before or (unit in (".", "…") and before in (".", "…")):
        folded.units[-1] = "-" if unit == "-" else "…"
        folded.ends[-1] = end
    else:
        folded.add(unit, begin, end)


def _after_mark(text: str, at: int, fresh: bool) -> int:
    """Where a Markdown mark that begins here ends; here, if none does."""
    character = text[at]
    if character in "*`":
        return at + 1
    if character == "~" and text.startswith("~~", at):
        return at + 2
    if character == "_" and not (text[at - 1 : at].isalnum() and text[at + 1 : at + 2].isalnum()):
        return at + 1
    if character == "\\" and text[at + 1 : at + 2] in tuple("\\`*_{}[]()#+-.!>~|"):
        return at + 1
    if fresh and character in _BULLETS:
        after = at + 1
        while character == "#" and text[after : after + 1] == "#" and after < at + 6:
            after += 1
        if text[after : after + 1].isspace():
            return after
    return at


def _cluster_end(text: str, at: int) -> int:
    """The end of a character with its combining marks, and of an emoji with what is joined to it."""
    end = at + 1
    while end < len(text) and text[end] >= "\u0300" and end < at + _LONGEST and _extends(text[end]):
        end += 2 if text[end] == _JOINER and end + 1 < len(text) and _joinable(text[end + 1]) else 1
    return end


@lru_cache(maxsize=4096)
def _extends(character: str) -> bool:
    return (
        unicodedata.category(character)[0] == "M"
        or character == _JOINER
        or "\u1160" <= character <= "\u11ff"  # the vowels and finals of a Hangul syllable
        or "\U0001f3fb" <= character <= "\U0001f3ff"  # skin tones
    )


@lru_cache(maxsize=8192)
def _units(cluster: str) -> tuple[str, ...]:
    if cluster in _ALIKE:
        return (_ALIKE[cluster],)
    text = unicodedata.normalize("NFKD", cluster).casefold()
    text = unicodedata.normalize("NFKC", text).translate(_INVISIBLE)
    if _JOINER in cluster:
        return (text,) if text else ()
    units: list[str] = []
    for character in text:
        if units and _extends(character):
            units[-1] += character
        else:
            units.append(_ALIKE.get(character, character))
    return tuple(units)
