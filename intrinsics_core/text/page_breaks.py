"""Where a page ends inside a sentence: headers, footers and page numbers that a PDF's text has between its halves."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from intrinsics_core.text.prose import is_ended

_PAGE = re.compile(
    r"\A(?:(?:.{0,100}(?:\s\s|[|·•—–-]\s?))?(?:Page|PAGE|Seite|SEITE|P\.)\s?\d{1,4}(?:\s?(?:of|von|/)\s?\d{1,4})?"
    r"(?:\s{0,9}[|·•—–-].{0,100}|\s\s.{0,100})?|.{0,100}\b(?i:page|seite)\s\d{1,4}\s(?:of|von)\s\d{1,4})\Z"
)
_NUMBER = re.compile(r"\A[-–—]?\s?\d{1,4}\s?[-–—]?\Z")
_ITEM = re.compile(r"\A\(?[a-zA-Z\d]{1,5}[.)]\s")
_LONGEST = 120  # characters of a header or a footer
_MOST = 12  # lines between the halves of a sentence
_HALVES = 2  # lines of a sentence around a page break
_SENTENCE = 20  # characters of a line from which it may be the first half of a sentence


def page_breaks(lines: Sequence[str]) -> dict[int, int]:
    """Of each page break inside a sentence its first line, and the line in which the sentence goes on.

    A page break is made of blank lines, page numbers, and lines between blank lines that the text has twice. The line
    before it has no end mark, and the one behind it begins with a small letter.

    Args:
        lines: all lines of a text.
    """
    plain = list(map(str.strip, lines))
    if sum(map(bool, plain)) <= _HALVES:
        return {}
    times = Counter(filter(None, plain))
    marked = {i for i, line in enumerate(plain) if line and _is_furniture(plain, i, times)}
    found, end = dict[int, int](), 0
    for i in sorted(marked):
        if i < end:
            continue
        begin, end = i, i
        while begin and not plain[begin - 1]:
            begin -= 1
        while end < len(plain) and (end in marked or not plain[end]):
            end += 1
        if begin > 0 and end < len(plain) and end - begin <= _MOST and _goes_on(plain[begin - 1], plain[end]):
            found[begin] = end
    return found


def without_page_breaks(sentence: str) -> str:
    """The sentence without the page breaks inside it (see `page_breaks`)."""
    lines = sentence.splitlines()
    plain = [line.strip() for line in lines]
    blank = [i for i, line in enumerate(plain) if not line]
    inside = range(blank[0], blank[-1] + 1) if blank else range(0)
    kept = [
        line
        for i, line in enumerate(lines)
        if i in (0, len(lines) - 1) or not (i in inside or _is_furniture(plain, i, Counter()))
    ]
    return sentence if len(kept) == len(lines) else "\n".join(kept)


def _is_furniture(lines: Sequence[str], i: int, times: Counter[str]) -> bool:
    line = lines[i]
    if len(line) > _LONGEST:
        return False
    if _PAGE.match(line):
        return True
    beside_blank = (i > 0 and not lines[i - 1]) or (i + 1 < len(lines) and not lines[i + 1])
    names = times[line] > 1 and line[:1].isupper() and not _ITEM.match(line) and not is_ended(line)
    return beside_blank and (names or _NUMBER.match(line) is not None)


def _goes_on(before: str, after: str) -> bool:
    unended = before[-1:].isalnum() or before.endswith((",", "-"))
    return unended and len(before) > _SENTENCE and after[:1].islower() and not _ITEM.match(after)
