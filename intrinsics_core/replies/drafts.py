"""Which of several values a reply stands by, as its words around them tell: drafts, corrections and other cases.

A reply may correct a value ("Wait, ... Corrected:"), say what it would be in another case ("If the documents were empty
it would be"), announce it ("Here is my verdict:"), or repeat the form with its blanks ("...").
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

_CORRECTS = re.compile(
    r"\b(?:wait|actually|correct\w*|mistaken?|sorry|final(?:ly)?|rather|revised?|updated?|instead|after all|"
    r"reflection|wrong|(?:first )?draft|but no|better)\b",
    re.IGNORECASE,
)
_SUPPOSES = re.compile(r"\b(?:would|could|might|hypothetical(?:ly)?)\b", re.IGNORECASE)
_NO_LINE = (". ", "! ", "? ", "\n", "<", ">", "[", "]")  # in what is more than one sentence, or tells of values
_LONGEST_ANNOUNCEMENT = 120
_BLANK = re.compile(r"\A(?:[\W_]*+|<[^<>\d]*+>|[\w ]++(?:\|[\w ]++)++)\Z")


def corrects(between: str) -> bool | None:
    """Whether the text between two values says that the second corrects the first.

    False where the second holds in another case; None where the text tells neither, or both.
    """
    corrected, supposed = _CORRECTS.search(between) is not None, _SUPPOSES.search(between) is not None
    return None if corrected is supposed else corrected


def is_announced(before: str, behind: str) -> bool:
    """Whether one line with a colon or a code fence leads to a value, and nothing behind it takes the value back."""
    line, fence, language = before.strip().rpartition("```")
    if language.strip().casefold() not in ("", "json") if fence else not language.rstrip("*_").endswith(":"):
        return False
    line = (line or language).strip(" \t\r\n*_")
    told = any(mark in line for mark in _NO_LINE) or _CORRECTS.search(f"{line} {behind}") or _SUPPOSES.search(line)
    return len(line) <= _LONGEST_ANNOUNCEMENT and not told


def is_blank_form(value: Any) -> bool:
    """Whether a value repeats the form that was asked for, with blanks ("...", "<label>", "yes|no") for its texts."""
    found = [text for text in _texts(value) if not ((bare := text.strip("<>"))[:1].isalpha() and bare[1:].isdigit())]
    return any(found) and all(map(_BLANK.match, found))


def _texts(value: Any, depth: int = 0) -> Iterator[str]:
    """The texts in a value; forms that are asked for nest three deep."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list) and depth < 4:
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts(item, depth + 1)
