"""Blocks of code between two fences."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import accumulate

from intrinsics_core.text.prose import is_ended

_FENCE = re.compile(r"(?:```|~~~)")
_CODE = re.compile(r"[{}();=<>$]|\A\s{2,}\S")
_FEW = 3  # words: a line that has no more of them is not told to be prose


def is_fence(line: str) -> bool:
    """Whether a line begins or ends a block of code, and says nothing itself."""
    return _FENCE.match(line.strip()) is not None


def fenced(text: str, *, so_far: bool = False) -> list[tuple[int, int]]:
    """(begin, end) of each block of code between two fences, with the fences and the end of the last line.

    One that is not closed goes on to the end of the text. One whose first fence is not there begins with the text
    (`begins_in_code`).

    Args:
        text: the text.
        so_far: the text is still being written. Then a first fence is never taken for the end of a block.
    """
    if "```" not in text and "~~~" not in text:
        return []
    lines = text.splitlines(keepends=True)
    begins = [0, *accumulate(map(len, lines))]
    return [(begins[first], begins[last]) for first, last in blocks(lines, so_far=so_far)]


def coded(lines: Sequence[str]) -> frozenset[int]:
    """Indices of the lines, or sentences, that are in blocks of code (`fenced`), and of their fences."""
    if not any(map(is_fence, lines)):
        return frozenset()
    return frozenset(i for first, last in blocks(lines) for i in range(first, last))


def blocks(lines: Sequence[str], *, so_far: bool = False) -> list[tuple[int, int]]:
    """(first, behind the last) line or sentence of each block of code (`fenced`)."""
    found, opened = list[tuple[int, int]](), 0 if not so_far and begins_in_code(lines) else -1
    for i, line in enumerate(lines):
        if is_fence(line):
            if opened >= 0:
                found.append((opened, i + 1))
            opened = i if opened < 0 else -1
    return [*found, (opened, len(lines))] if opened >= 0 else found


def begins_in_code(lines: Sequence[str]) -> bool:
    """Whether a text begins inside a block of code, as part of a longer one may: its first fence closes the block.

    So it is where code and no line of prose stands before the first fence, and a line of prose stands behind it, before
    the next fence.
    """
    fences = [i for i, line in enumerate(lines) if is_fence(line)]
    if len(fences) % 2 == 0 or lines[fences[0]].strip().strip("`~"):
        return False
    before, after = lines[: fences[0]], lines[fences[0] + 1 : fences[1] if fences[1:] else len(lines)]
    return any(map(_CODE.search, before)) and not any(map(_is_prose, before)) and any(map(_is_prose, after))


def _is_prose(line: str) -> bool:
    words = line.split()
    return len(words) > _FEW and words[0][:1].isupper() and is_ended(line.rstrip())
