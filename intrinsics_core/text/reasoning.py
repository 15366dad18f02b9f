"""The reasoning that a model wrote before its answer, between tags: it claims nothing to whoever asked."""

from __future__ import annotations

import re

_NAMES = "(?:think|thinking|reasoning|thoughts?|seed:think)"
# The marks that models write: in angle brackets, and those of Magistral, Kimi, Command A, OpenThinker and Apertus.
_PAIRS = (
    (rf"<{_NAMES}\s*>", rf"</{_NAMES}\s*>"),
    (r"(?-i:\[THINK\])", r"(?-i:\[/THINK\])"),
    (r"\u25c1think\u25b7", r"\u25c1/think\u25b7"),
    (r"<\|START_THINKING\|>", r"<\|END_THINKING\|>"),
    (r"<\|begin_of_thought\|>", r"<\|end_of_thought\|>"),
    (r"<\|inner_prefix\|>", r"<\|inner_suffix\|>"),
)
OPENING, CLOSING = (f"(?:{'|'.join(marks)})" for marks in zip(*_PAIRS, strict=True))
_BEGINS = re.compile(rf"\A\s*{OPENING}", re.IGNORECASE)
_ENDS = re.compile(CLOSING, re.IGNORECASE)


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
