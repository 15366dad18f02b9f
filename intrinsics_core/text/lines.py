"""Lines that are headings ("## Prices", "**Prices**:"), items of lists, quoted mails, and blocks of code."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

BOLD = 7
"""The level of a line in bold. It is below all others."""

EMOJI_CHARACTERS = r"\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff"
"""The characters of emojis, for a class of a pattern."""

# Behind the bold words may stand colons, dashes, emojis and a remark in brackets. With a period it is a sentence.
_TRAIL = rf"[\s:：–—\ufe0f{EMOJI_CHARACTERS}-]*"
_BOLD = re.compile(rf"\A(?P<mark>\*\*|__)(?P<name>[^*_]+?)(?P=mark){_TRAIL}(?:\([^()]{{1,60}}\){_TRAIL})?\Z")
_FENCES = ("```", "~~~")


class Heading(NamedTuple):
    """A heading. ``level``: 1 to 6 by its hashes, or `BOLD`. ``name``: its words, without the marks."""

    level: int
    name: str


def heading(line: str) -> Heading | None:
    """The heading that a line is; None for any other line."""
    if not line.startswith(("#", "**", "__")):  # most lines
        return None
    level = len(line) - len(line.lstrip("#"))
    name = line[level:].strip()
    if level and not (level <= 6 and name and line[level].isspace()):
        return None
    bold = _BOLD.match(name)
    return Heading(level or BOLD, bold["name"] if bold else name) if level or bold else None


def heading_level(line: str) -> int:
    """The level of the heading that a line is, 1 to `BOLD`; 0 for any other line."""
    return found.level if (found := heading(line)) else 0


def is_fence(line: str) -> bool:
    """Whether a line begins or ends a block of code, and says nothing itself."""
    return line.lstrip().startswith(_FENCES)


def fenced(text: str) -> list[tuple[int, int]]:
    """(begin, end) of each block of code between two fences, with the fences and the end of the last line.

    One that is not closed goes on to the end of the text.
    """
    if not any(fence in text for fence in _FENCES):
        return []
    lines = text.splitlines(keepends=True)
    begins = [0, *accumulate(map(len, lines))]
    return [(begins[first], begins[last]) for first, last in blocks(lines)]


def coded(lines: Sequence[str]) -> frozenset[int]:
    """Indices of the lines, or sentences, that are in blocks of code (`fenced`), and of their fences."""
    return frozenset(i for first, last in blocks(lines) for i in range(first, last))


def blocks(lines: Sequence[str]) -> list[tuple[int, int]]:
    """(first, behind the last) line or sentence of each block of code (`fenced`)."""
    fences = [i for i, line in enumerate(lines) if is_fence(line)]
    ends = [at + 1 for at in fences[1::2]]
    return list(zip(fences[::2], ends if len(fences) % 2 == 0 else [*ends, len(lines)], strict=True))


# --- items of lists -----------------------------------------------------------------------------------------------

_MARK = (
    r"[-*+•‣▪◦●○■□➢➤·–—]\s+|\(?(?:\d{1,3}[.)\]]|(?:[a-zA-Z]|[ivxIVX]{2,5})\)|[a-z]\.)\s+|\d\ufe0f?\u20e3\s*"
    r"|(?i:step|part|point|option|choice)\s\d{1,2}\s?[:.)–-]\s+|[①-⑳㈠-㈩]\s*|[一二三四五六七八九十]{1,3}、\s*"
    r"|(?:\[[ xX]?\]|[☐☑☒])\s+"
)
_MARKS = re.compile(rf"(?:{_MARK}|[✓✔>]\s+|[QA]:\s*)++")
_SPEAKS = (">", "Q:", "A:")  # a quote, and who speaks: no items, though they stand alone as items do
QUOTED = re.compile(r"^(?:>[ \t]?)++(?![ \t]?\d)", re.MULTILINE)
"""The marks of a mail that a line is quoted from."""


def marks_of(line: str) -> str:
    """The marks of an item or a quotation that a line begins with, with the space behind them; empty if it has none."""
    return found[0] if (found := _MARKS.match(line)) else ""


def is_item(line: str) -> bool:
    """Whether a line begins like an item of a list."""
    return marks_of(line.lstrip()) != ""


def in_list(line: str) -> bool:
    """Whether a line is an item of a list."""
    return marks_of(line) != "" and not line.startswith(_SPEAKS)


def unmarked(line: str) -> str:
    """A line without its bullet, its number and its box. A tick stays: it says something."""
    marks = marks_of(line)
    says = (i for i, first in enumerate(marks) if first in "✓✔>" or marks[i : i + 2] in _SPEAKS)
    return line[next(says, len(marks)) :].strip()


def mark(line: str) -> str:
    """The kind of an item's mark: "1" for numbers, "a" for letters, or the first character of a bullet or a box."""
    first = line.lstrip("(")[:1]
    return "1" if first.isdigit() else "a" if first.isalpha() else first


def behind(front: str, said: str) -> str:
    """What an item says behind what introduces it: "Not covered: water damage." It is not put there twice."""
    return said if not front or said.casefold().startswith(front.casefold()) else f"{front}: {said}"
