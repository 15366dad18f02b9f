"""How marks and the list of sources look, as text and as Markdown."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from intrinsics_core.render.citations.views import MODES, Mode


@dataclass(frozen=True, slots=True)
class Marks:
    """How marks and the list look. ``mark`` matches one: its number, and characters back or nothing."""

    mark: re.Pattern[str]
    headings: Mapping[Mode, str]
    item: re.Pattern[str]
    written: Callable[[int, int | None], str]
    listed: str


def _text_mark(number: int, back: int | None) -> str:
    return f"[{number}]" if back is None else f"[{number} ←{back}]"


def _footnote_mark(number: int, back: int | None) -> str:
    return f"[^{number}]" if back is None else f"[^{number}]<!--{back}-->"


WORD = r"[\w.-]++(?:\[[0-9]{1,9}\])?+"  # an id, or the name of a text: documents[0]
_LISTED = rf'((?:{WORD}|"(?:[^"\\]|\\.)*+"))(?: #([0-9]{{1,9}}))?(?:: ("(?:[^"\\]|\\.)*+"))?'
LOOKS: Mapping[str, Marks] = {
    "text": Marks(
        re.compile(r"\[([0-9]{1,9})(?: ←([0-9]{1,9}))?\]"),
        dict(zip(MODES, ("Sources:", "Sources, quoted:", "Citations:", "Citations, quoted:"), strict=True)),
        re.compile(rf"\[([0-9]{{1,9}})\] {_LISTED}"),
        _text_mark,
        "[{}] ",
    ),
    "markdown": Marks(
        re.compile(r"\[\^([0-9]{1,9})\](?:<!--([0-9]{1,9})-->)?"),
        {mode: f"<!-- citations: {mode} -->" for mode in MODES},
        re.compile(rf"\[\^([0-9]{{1,9}})\]: {_LISTED}"),
        _footnote_mark,
        "[^{}]: ",
    ),
}
NONE = "None"  # the paper's word


def called(style: str, count: int) -> str:
    """What a text ends with in a postfix mode: Markdown shows no footnote that nothing calls."""
    marks = "".join(_footnote_mark(number, None) for number in range(1, count + 1))
    return f"\n\n{marks}" if marks and style == "markdown" else ""


def before_slashes(text: str) -> int:
    """Where the backslashes at the end of a text begin."""
    return len(text.rstrip("\\"))
