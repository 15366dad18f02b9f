"""Every compiled pattern of the package, and the texts made to hurt it (benchmarks/patterns.py times them)."""

from __future__ import annotations

import importlib
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import intrinsics_core
from tests.steps import LINEAR, Matcher, TooMany

UNITS = ("\n", " ", "\t\n", ".", ". ", "[", "]", "[[", "(", "{", "<", "|", ",", ";", ":", "-", "_", "'", '"', "?", "? ",
         "!", "=", "/", "@", "\u3002", "\u6587", "\u6587\u3002", "a", "A", "a ", "A ", "ab, ", "1",
         "1.", "1,", "1 ", "1-", "0.1", "a.", "a'",
         "\u200b", "<\u200b", "\u0301", "\u0928", "\u0928\u093f", "\u00e9", "\u0130")  # fmt: skip
"""What a text is made of: line ends, marks, brackets, unspaced scripts, one word without spaces, invisibles."""

_WORD = re.compile(r"(?<![\\A-Za-z])[A-Za-z]{2,}")
_SKIPPED = ("intrinsics_core.cli.__main__", "intrinsics_core.demo.haystack", "intrinsics_core.demo.llamaindex")


def modules() -> Iterator[Any]:
    """Every module of the package that can be imported here."""
    root = Path(intrinsics_core.__file__).parent
    for file in sorted(root.rglob("*.py")):
        name = ".".join(("intrinsics_core", *file.relative_to(root).with_suffix("").parts)).removesuffix(".__init__")
        if name in _SKIPPED:
            continue
        try:
            yield importlib.import_module(name)
        except ImportError:  # torch, vllm or a framework is not installed here
            continue


@cache
def patterns() -> dict[str, re.Pattern[str]]:
    """By ``module.name``, every compiled pattern: in globals, in tables of them, in class bodies and in closures."""
    found: dict[str, re.Pattern[str]] = {}
    known: set[int] = set()
    for module in modules():
        for name, value in vars(module).items():
            for pattern in _within(value, module.__name__, 0):
                if id(pattern) not in known and isinstance(pattern.pattern, str):
                    known.add(id(pattern))
                    found[f"{module.__name__}.{name}" + (f"#{len(found)}" if not value_is(value) else "")] = pattern
    return found


def value_is(value: Any) -> bool:
    return isinstance(value, re.Pattern)


def _within(value: Any, module: str, depth: int) -> Iterator[re.Pattern[str]]:
    if isinstance(value, re.Pattern):
        yield value
    elif depth < 4:
        parts: list[Any] = []
        if isinstance(value, dict):
            parts = list(value.values())
        elif isinstance(value, tuple | list | set | frozenset):
            parts = list(value)
        elif isinstance(value, type) and value.__module__ == module:
            parts = list(vars(value).values())
        elif callable(value) and getattr(value, "__module__", None) == module:
            parts = [cell.cell_contents for cell in getattr(value, "__closure__", None) or ()]
        for part in parts:
            yield from _within(part, module, depth + 1)


@dataclass(frozen=True)
class Counted:
    """The text on which a pattern's steps grow fastest, and the steps for n and for 4n characters of it."""

    text: str
    how: str
    once: int
    four: int

    @property
    def ratio(self) -> float:
        """4 where the work is in proportion, 16 where it is to the square."""
        return self.four / self.once if self.four < MOST else math.inf


def texts(pattern: re.Pattern[str], *, quick: bool = False) -> Iterator[tuple[str, str]]:
    """(beginning, unit) of the texts that a pattern is tried on: all of them, or a few of each kind."""
    own = list(dict.fromkeys(_WORD.findall(pattern.pattern)))[: 4 if quick else 24]
    first = [own[0]] if own else []
    for unit in (*UNITS, *own, *(f"{word} " for word in own)):
        yield "", unit
    for word in own:
        for unit in (" ", "\n", ".", "-", "a", "1", "a "):
            yield word, unit
    for pair in (f"{a} {b}" for a in first for b in own[1:]):
        yield pair, " "
    if quick:
        return
    for begin in ("0", "1-", "[1", "<", "</", "<c", "A:", "'", "{", "(1", "x "):
        for unit in (" ", "\n", "1", ".", "\u200b", "a", "1, "):
            yield begin, unit


def worst(pattern: re.Pattern[str], lengths: Sequence[int] = (100, 1_000), *, quick: bool = False) -> Counted:
    """The fastest growth on the texts that cost most in short, searched over and matched as a whole.

    ``quick`` tries fewer and shorter texts, and follows two of them instead of five.
    """
    matcher = Matcher(pattern, MOST)
    screened, followed = (30, 2) if quick else (60, 5)
    short = sorted(
        (
            (_steps(matcher, how, begin, unit, screened), begin, unit, how)
            for begin, unit in texts(pattern, quick=quick)
            for how in _HOW
        ),
        reverse=True,
    )
    found: list[Counted] = []
    for n in lengths:  # at the second, what a bounded repetition looks at has come to its bound
        found = []
        for _, begin, unit, how in short[:followed]:
            once, four = (_steps(matcher, how, begin, unit, k * n) for k in (1, 4))
            found.append(Counted(f"{begin!r} + n * {unit!r}", how, once, four))
            if four == MOST:
                break
        if max(each.ratio for each in found) < LINEAR:
            break
    return max(found, key=lambda each: each.ratio)


_HOW = ("over", "whole")
MOST = 2_000_000  # no linear pattern needs so many for 4,000 characters


def _steps(matcher: Matcher, how: str, begin: str, unit: str, characters: int) -> int:
    text = begin + unit * (characters // len(unit)) + "\x00"
    matcher.steps = 0
    try:
        matcher.over(text) if how == "over" else matcher.match(text, whole=True)
    except TooMany:
        return MOST
    return matcher.steps
