"""Words that an answer quotes, and where they stand.

Letters and digits must be the same, in compatible spellings (ﬁ, ½), whatever stands between them. The parts of a quote
with an ellipsis must stand in one text, in order.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterator
from functools import lru_cache

from intrinsics_core.replies.quotes import Found

_MARKED = re.compile(
    r"“([^“”]{1,1000})”|„([^„“”]{1,1000})[“”]|«([^«»]{1,1000})»|»([^«»]{1,1000})«|「([^「」]{1,1000})」|『([^『』]{1,1000})』"
    r'|(?<!\w)"(?=\S)([^"\n]{1,1000})(?<=\S)"(?!\w)|(?<!\w)‘([^‘’\n]{1,1000}(?:’\w[^‘’\n]{1,1000}){0,9})’(?!\w)'
    r"|(?<!\w)'(?=\S)([^'\n]{1,1000}(?:'\w[^'\n]{1,1000}){0,9})'(?!\w)"
)
_WORD = re.compile(r"\w+")
_GAP = re.compile(r"\[[^\[\]]{0,40}\]|\(?(?:…|(?<!\.)\.{3,}|(?:\. ){2}\.)\)?")
_FEWEST = 3  # words: fewer in quotation marks are a name, a title, or a word that is not meant as it stands
_LETTERS = 8  # as many in a script without spaces


def quoted(text: str) -> Iterator[Found]:
    """(begin, end) of each quote in an answer, without its quotation marks."""
    for found in _MARKED.finditer(text):
        yield found.span(found.lastindex or 0)


def is_quotation(words: str) -> bool:
    """Whether these words are so many that they are taken for somebody's own words."""
    found = _WORD.findall(words)
    return len(found) >= _FEWEST or any(len(word) >= _LETTERS and word[0] > "\u2e80" for word in found)


def standing(quote: str, text: str) -> Found | None:
    """Where a quote stands in a text, from its first word to its last; None where it does not."""
    parts = [part.strip() for part in _GAP.split(quote) if any(map(str.isalnum, part))]
    begin, at = -1, 0
    for part in parts:
        if (place := _by_letters(part, text, at)) is None:
            return None
        begin = place[0] if begin < 0 else begin
        at = place[1]
    return (begin, at) if parts else None


def _by_letters(quote: str, text: str, start: int) -> Found | None:
    """Where all letters and digits of a quote stand, with other characters between them or without; whole words."""
    letters, where = _letters(text)
    wanted = _letters(quote)[0]
    at = letters.find(wanted, bisect_left(where, start)) if wanted else -1
    while at >= 0:
        begin, end = where[at], where[at + len(wanted) - 1] + 1
        if not text[begin - 1 : begin].isalnum() and not text[end : end + 1].isalnum():
            return begin, end
        at = letters.find(wanted, at + 1)
    return None


@lru_cache(maxsize=256)
def _letters(text: str) -> tuple[str, list[int]]:
    """The letters and digits of a text in lower case, and where each stands."""
    spelled = ((lower, i) for i, one in enumerate(text) for lower in unicodedata.normalize("NFKD", one).lower())
    where = [(lower, i) for lower, i in spelled if lower.isalnum()]
    return "".join(lower for lower, _ in where), [i for _, i in where]
