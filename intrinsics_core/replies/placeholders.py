"""Texts that stand where a text should and say nothing: "N/A", "[none]", "..."."""

from __future__ import annotations

_AROUND = " \t\r\n\"'`“”‘’«»()[]{}<>*_-–—.…!?:;,/"
_NOTHING = frozenset({"", "n/a", "na", "none", "null", "nil", "not applicable", "empty"})


def says_nothing(text: str) -> bool:
    """Whether the text is such a word, whatever its case and the marks around it."""
    return " ".join(text.strip(_AROUND).casefold().split()) in _NOTHING
