"""Lines that are headings ("## Prices", "**Prices**:"), items of lists, quoted mails, and blocks of code."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

from intrinsics_core.text.prose import ended

BOLD = 7
"""The level of a line in bold. It is below all others."""

EMOJI_CHARACTERS = r"\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff"
"""The characters of emojis, for a class of a pattern."""

_HASHES = re.compile(r"\A(?P<hashes>#{1,6})\s+(?P<name>.+)\Z", re.DOTALL)
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
    hashes = _HASHES.match(line)
    name = hashes["name"].strip() if hashes else line
    bold = _BOLD.match(name)
    if not hashes and not bold:
        return None
    return Heading(len(hashes["hashes"]) if hashes else BOLD, bold["name"] if bold else name)


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

_ITEM = re.compile(
    r"(?:[-*+•‣▪◦●○■□➢➤✓✔·–—>]|\(?\d{1,3}[.)\]]|\(?[a-zA-Z]\)|[a-z]\.|\(?[ivxIVX]{1,5}\)|[①-⑳㈠-㈩]|[一二三四五六七八九十]{1,3}、)"
    r"(?:\s|(?<=、)|(?<=[①-⑳㈠-㈩]))|Q:|A:"
)
_MARKS = re.compile(rf"(?:(?:{_ITEM.pattern})\s*+(?:\[[ xX]\]\s++)?+)++")
NUMBERED = re.compile(
    r"\A(?:[-*•]\s+)?"
    r"(?:(?:step|part|point|option|choice)\s+\d{1,2}\s*[:.)–-]|\(?\d{1,2}[.)]|\(?[a-z]\)|\(?[ivx]{1,5}\)|\[[ xX]?\]"
    r"|\d\ufe0f?\u20e3)\s+",
    re.IGNORECASE,
)
"""The number or letter of an item or a step, or its box."""
BULLET = re.compile(r"\A[-*•‣▪◦●○■□➢➤·–—]\s+")
QUOTED = re.compile(r"^(?:>[ \t]?)++(?![ \t]?\d)", re.MULTILINE)
"""The marks of a mail that a line is quoted from."""
_BOXES = ("[ ] ", "[x] ", "[X] ", "☐ ", "☑ ", "☒ ")
_SPEAKS = (">", "Q:", "A:")  # a quote, and who speaks: no items, though they stand alone as items do
_ENDS = " \t,;"


def is_item(line: str) -> bool:
    """Whether a line begins like an item of a list."""
    return _ITEM.match(line.lstrip()) is not None


def in_list(line: str) -> bool:
    """Whether a line is an item of a list."""
    if line.startswith(_BOXES) or NUMBERED.match(line):
        return True
    return is_item(line) and not line.startswith(_SPEAKS)


def marks_of(line: str) -> str:
    """The marks of an item or a quotation that a line begins with, with the space behind them; empty if it has none."""
    return found[0] if (found := _MARKS.match(line)) else ""


def unmarked(line: str) -> str:
    """A line without its bullet and its number."""
    return BULLET.sub("", NUMBERED.sub("", line)).strip()


def mark(line: str) -> str:
    """The kind of an item's mark: "1" for numbers, "a" for letters, "[" for boxes, or the bullet."""
    first = "[" if line.startswith(_BOXES) else line.lstrip("(")[:1]
    return "1" if first.isdigit() else "a" if first.isalpha() else first


def holds(outer: str, inner: str) -> bool:
    """Whether items of one kind (`mark`) stand below one of another kind without being indented: "a)" below "(1)"."""
    return outer != inner and (outer == "1" or (outer == "a" and inner != "1"))


def behind(front: str, said: str) -> str:
    """What an item says behind what introduces it: "Not covered: water damage." It is not put there twice."""
    return said if not front or said.casefold().startswith(front.casefold()) else f"{front}: {said}"


def listed(front: str, item: str) -> str:
    """An item of a document, with its mark, as it is read behind what introduces it; as it stands behind nothing."""
    said = unmarked(item).removeprefix("+ ").rstrip(_ENDS).removesuffix(" and").removesuffix(" or").rstrip(_ENDS)
    return ended(behind(front, said)) if front and said else item
