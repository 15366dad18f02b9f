"""Columns that are made by spaces or tabs: such lines are rows of a table, too."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

_CELL = re.compile(r"[^\s]++(?: [^\s]++)*+")
_WIDE = re.compile(r"[^\s.!?:](?:[ ]{3,}+|\t)\S")
_LONGEST = 8  # words of a cell


def has_columns(line: str) -> bool:
    """Whether a line may be a row of columns: a gap of three spaces or a tab stands between two words of it."""
    return _WIDE.search(line) is not None


def with_bars(sentences: Sequence[str]) -> list[str]:
    """As many texts; ``| Tandem | €18 |`` for a row of columns that stands below or above another one."""
    if not sentences:
        return []
    cells = [_cells(text) for text in sentences]
    below = [_are_aligned(row, following) for row, following in pairwise(cells)]
    inside = [any(pair) for pair in zip([False, *below], [*below, False], strict=True)]
    return [
        f"| {' | '.join(cell[0] for cell in row)} |" if is_row else text
        for text, row, is_row in zip(sentences, cells, inside, strict=True)
    ]


def _cells(text: str) -> list[re.Match[str]]:
    """The cells of a row, none of prose."""
    if "|" in text or "\n" in text or text.endswith((".", "!", "?")) or not has_columns(text):
        return []
    cells = list(_CELL.finditer(text))
    return cells if all(len(cell[0].split()) <= _LONGEST for cell in cells) else []


def _are_aligned(row: Sequence[re.Match[str]], following: Sequence[re.Match[str]]) -> bool:
    """Whether the cells of two rows begin or end at the same places, or stand between tabs."""
    if not row or len(row) != len(following):
        return False
    tabs = "\t" in row[0].string and "\t" in following[0].string
    return tabs or all(
        cell.start() == below.start() or cell.end() == below.end() for cell, below in zip(row, following, strict=True)
    )
