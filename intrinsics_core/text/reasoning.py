"""The reasoning that a model wrote before its answer, between tags: it claims nothing to whoever asked."""

from __future__ import annotations

import re

NAMES = "(?:think|thinking|reasoning)"
_BEGINS = re.compile(rf"\A\s*<{NAMES}\s*>", re.IGNORECASE)
_ENDS = re.compile(rf"</{NAMES}\s*>", re.IGNORECASE)


def unended(answer: str) -> bool:
    """Whether an answer begins with reasoning that has no end (yet)."""
    return _BEGINS.match(answer) is not None and _ENDS.search(answer) is None


def blanked(answer: str) -> str:
    """The answer with spaces in the place of reasoning that it begins with, so that all places in it stay.

    Reasoning without an end is left as it is: a reader may take it for the answer.

    >>> blanked("<think>Ada?</think> Ada.")
    '                        Ada.'
    """
    begins = _BEGINS.match(answer)
    ends = _ENDS.search(answer, begins.end()) if begins else None
    return answer if ends is None else " " * ends.end() + answer[ends.end() :]
