"""Lines that are headings: "## Prices", or a line in bold such as "**Prices**:"."""

from __future__ import annotations

import re
from typing import NamedTuple

BOLD = 7
"""The level of a line in bold. It is below all others."""

EMOJI_CHARACTERS = r"\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff"
"""The characters of emojis, for a class of a pattern."""

_HASHES = re.compile(r"\A(?P<hashes>#{1,6})\s+(?P<name>.+)\Z", re.DOTALL)
# Behind the bold words may stand colons, dashes, emojis and a remark in brackets. With a period it is a sentence.
_TRAIL = rf"[\s:：–—\ufe0f{EMOJI_CHARACTERS}-]*"
_BOLD = re.compile(rf"\A(?P<mark>\*\*|__)(?P<name>[^*_]+?)(?P=mark){_TRAIL}(?:\([^()]{{1,60}}\){_TRAIL})?\Z")


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
    found = heading(line)
    return found.level if found else 0
