"""Tables of contents: they name what a document is about, and say nothing of it."""

from __future__ import annotations

import re
from collections.abc import Sequence

_DOTS = ("...", "…", ". . .")
_PAGE = re.compile(r"\d{1,4}\Z")
_LONGEST = 200  # characters of an entry
_TITLE = re.compile(
    r"\A\W*(?:table of )?(?:contents|inhalt(?:sverzeichnis)?|sommaire|table des matières|índice)\W*\Z", re.IGNORECASE
)
_SECTION = re.compile(
    r"\A(?:\d{1,2}\.\d|(?:chapter|section|part|annex|appendix)\s(?:\d{1,2}|[ivx]{1,5}|[a-z])\b)", re.IGNORECASE
)
_LEAST = 2  # entries


def entries(sentences: Sequence[str]) -> frozenset[int]:
    """Indices of the sentences that are a table of contents: "3 Warranty ........ 12", and its title.

    A price list looks the same. So the lines stand below a title such as "Contents", or one of them names a chapter
    ("2.1 Cleaning", "Part II"), and their pages do not fall.
    """
    found, i = set[int](), 0
    while i < len(sentences):
        end, pages, chapters = _run(sentences, i)
        titled = i > 0 and _TITLE.match(sentences[i - 1]) is not None
        if len(pages) >= _LEAST and (titled or chapters) and pages == sorted(pages):
            found.update(range(i - titled, end))
        i = max(end, i + 1)
    return frozenset(found)


def _run(sentences: Sequence[str], begin: int) -> tuple[int, list[int], bool]:
    """Where a run of entries that begins here ends, their pages, and whether one of them names a chapter."""
    i, pages, chapters = begin, list[int](), False
    while i < len(sentences) and len(sentences[i]) <= _LONGEST:
        name = sentences[i].rstrip("0123456789")
        if not name.rstrip().endswith(_DOTS):
            break
        page = sentences[i][len(name) :]
        if not page and i + 1 < len(sentences):  # a sentence may end behind the dots
            page, i = sentences[i + 1], i + 1
        if not _PAGE.match(page):
            break
        chapters = chapters or _SECTION.match(name) is not None
        pages.append(int(page))
        i += 1
    return i, pages, chapters
