"""Where sentences begin, told from end marks and line breaks alone.

For counting, and for marks in a text that must be found again in any version: plain, so that it stays. Sentences that a
person or a model is shown are those of :mod:`.layout` and :mod:`.sentences`.
"""

from __future__ import annotations

import re

_STOP = re.compile(r"(?<![.!?。！？])[.!?。！？]++[\"'”’)\]]*+(?:\s++|(?<=[。！？]))|\n\s*+")


def starts(text: str, *, names: bool = False) -> list[int]:
    """Offsets at which sentences begin, in order; the first is that of the first character that is not whitespace.

    Args:
        names: an initial or a title of two letters ("W. Blake", "Mr. Blake") ends no sentence.
    """
    found = [match for match in _STOP.finditer(text) if not (names and _after_a_name(text, match.start()))]
    return [len(text) - len(text.lstrip()), *(match.end() for match in found)]


def _after_a_name(text: str, stop: int) -> bool:
    name = text[max(0, stop - 3) : stop].replace("(", " ").split()[-1:]  # "W.", "Mr."
    return bool(name) and text[stop] == "." and name[0].isalpha() and name[0].istitle() and len(name[0]) < 3
