"""Turns in a terminal: no text is taken for markup or an escape code, and nothing is lost in a narrow window."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from intrinsics_core.render import terminal
from intrinsics_core.render.trace import Turn
from tests.render.test_html import EVIL, turn


def shown(value: Turn, width: int = 100) -> str:
    out = io.StringIO()
    Console(file=out, width=width, force_terminal=False).print(terminal.turn(value, 7))
    return out.getvalue()


def test_everything_that_was_found_is_shown() -> None:
    told = shown(turn("the mill"))
    for part in (
        "question 7",
        "the mill",
        "partially relevant",
        "answerable",
        "0.80",
        "unfaithful",
        "certainty",
        "[1]",
    ):
        assert part in told


@pytest.mark.parametrize("width", [20, 60, 200])
def test_hostile_text_is_plain_text(width: int) -> None:
    told = shown(turn("[bold]x[/bold] [link=http://evil]" + EVIL), width)
    assert "\x1b" not in told and "\x00" not in told and "\u202e" not in told
    told.encode("utf-8")
    assert "[bold]x[/bold]" in told.replace("\n", "") or width == 20


def test_a_blocked_turn_says_so() -> None:
    told = shown(turn("x", blocked=True, hallucination=None, citations=None, certainty=None, fact_check=None))
    assert "canned answer" in told and "scores" not in told


def test_a_bare_turn() -> None:
    told = shown(Turn(question="Why?", answer="No idea."))
    assert "Why?" in told and "No idea." in told and "gate" not in told
