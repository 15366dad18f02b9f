"""Every compiled pattern of the package, and the texts on which each is slowest (benchmarks/patterns.py measures)."""

from __future__ import annotations

import importlib
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import intrinsics_core

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
class Measured:
    """The text on which a pattern is slowest, and CPU seconds for n and for 4n of it."""

    text: str
    how: str
    n: int
    once: float
    four: float

    @property
    def ratio(self) -> float:
        """4 where time is in proportion (or too short to tell), 16 where it is to the square."""
        return self.four / self.once if self.four > 0.005 and self.once > 0 else 4.0


def texts(pattern: re.Pattern[str]) -> Iterator[tuple[str, str]]:
    """(beginning, unit) of the texts that a pattern is tried on."""
    own = list(dict.fromkeys(_WORD.findall(pattern.pattern)))[:24]
    first = [own[0]] if own else []
    for unit in (*UNITS, *own, *(f"{word} " for word in own)):
        yield "", unit
    for word in own:
        for unit in (" ", "\n", ".", "-", "a", "1", "a "):
            yield word, unit
    for pair in (f"{a} {b}" for a in first for b in own[1:]):
        yield pair, " "
    for begin in ("0", "1-", "[1", "<", "</", "<c", "A:", "'", "{", "(1", "x "):
        for unit in (" ", "\n", "1", ".", "\u200b", "a", "1, "):
            yield begin, unit


def _ways(pattern: re.Pattern[str]) -> dict[str, Any]:
    return {
        "sub": lambda text: pattern.sub("", text),
        "match": pattern.match,
        "fullmatch": pattern.fullmatch,
    }


def seconds(work: Any, text: str) -> float:
    """Least CPU time of three runs, of one where it is long."""
    best = float("inf")
    for _ in range(3):
        begun = time.process_time()
        work(text)
        best = min(best, time.process_time() - begun)
        if best > 0.5:
            break
    return best


def worst(pattern: re.Pattern[str], characters: int) -> Measured:
    """The slowest of all texts of 4 n = ``characters`` characters.

    Found at a fortieth of the length, where even a square is soon over.
    """
    small = characters // 40
    slowest = (0.0, "", "", "sub")
    for begin, unit in texts(pattern):
        text = begin + unit * (small // len(unit)) + "\x00"
        for how, work in _ways(pattern).items():
            spent = seconds(work, text)  # the least of three: one interrupt would choose another text
            if spent > slowest[0]:
                slowest = (spent, begin, unit, how)
    _, begin, unit, how = slowest
    n = characters // 4
    work = _ways(pattern)[how]
    once, four = (seconds(work, begin + unit * (k * n // max(1, len(unit))) + "\x00") for k in (1, 4))
    return Measured(f"{begin!r} + n * {unit!r}", how, n, once, four)
