"""Rows of a table in words: each cell behind the name of its column, so that a row says by itself what it means.

A table is a run of lines with bars (Markdown, a grid), with columns made by spaces or tabs, or of CSV.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence

from intrinsics_core.text.prose import ended, is_ended

_RULED = frozenset("|:-=+ ")
YES, NO = "✅✔☑✓", "❌✗✘✖🚫⛔"
"""Marks that stand for a yes and for a no."""
_MARKS = {**dict.fromkeys(YES, "yes"), **dict.fromkeys(NO, "no")}
_EMOJI = "\ufe0f"  # behind a mark that is drawn as an emoji
_TICKED, _CROSSED = frozenset((*YES, "yes", "•", "●")), frozenset((*NO, "no"))
_UNTICKED = frozenset(("", "-", "–", "—"))
_X = "x"  # a tick or a cross
_VALUES = frozenset((*_UNTICKED, "free", "none", "closed", "included", "sold out", "n/a", "unlimited", "yes", "no"))
"""What stands in place of a number, and names no column of them."""
# A cell that is a number, an amount or a time: "€8", "from 9 a.m.", and not "room 12".
_NUMERIC = re.compile(r"\A(?:(?:from|about|up to|until|since|EUR|USD|CHF|GBP)\s)?\W{0,3}\d", re.IGNORECASE)
_CELL = re.compile(r"[^\s]++(?: [^\s]++)*+")
_WIDE = re.compile(r"[^\s.!?:](?:[ ]{3,}+|\t)\S")
_FIELD = re.compile(
    r"\A\W{0,3}(?P<label>[^\W\d][^:\"\n.!?]{0,30})\"?: (?P<q>\"?)(?P<value>[^\n:\"]{1,60}?)(?<![.!?])(?P=q)[,;]?\Z"
)
_LONGEST = 8  # words of a cell of columns or of CSV
_LEAST = 3  # lines of CSV; two lines of prose may have as many commas

Cells = list[str]


def in_words(sentences: Sequence[str]) -> list[str]:
    """The sentences of one document as they are read: ``Bike: Tandem; Day: €28.`` for ``| Tandem | €28 |``.

    The first row names the columns where a rule follows it, where it is CSV without a digit, or where it holds no digit
    and most cells of a column below it are numbers. A row with another number of cells stays as it is. In a column of
    ticks and crosses a dash or an empty cell says no.

    Args:
        sentences: the sentences of the document in order, a row of a table being one (`layout.laid_out`).

    Returns:
        As many texts. Only rows of tables differ from what was given: rules, and the row that names the columns,
        become "", and columns without names stand between bars.
    """
    found = [*sentences]
    for begin, cells, is_csv in _tables(sentences):
        rows = found[begin : begin + len(cells)]
        if not is_csv and not is_row(rows[0]):
            rows = [f"| {' | '.join(row)} |" for row in cells]
        found[begin : begin + len(cells)] = _rows(rows, cells, is_csv)
    return _records(found)


def is_row(text: str) -> bool:
    """Whether a sentence may be a row of a table with bars, or the rule of a grid."""
    return text.startswith(("|", "+-", "+=")) or text.count("|") > 1


def is_rule(row: str) -> bool:
    """Whether a row of a table is nothing but the line below the names of its columns."""
    return _RULED.issuperset(row) and ("-" in row or "=" in row)


def has_columns(line: str) -> bool:
    """Whether a line may be a row of columns: a gap of three spaces or a tab stands between two words of it."""
    return _WIDE.search(line) is not None


def are_csv(lines: Sequence[str]) -> bool:
    """Whether all lines are rows of one table of CSV."""
    return len(lines) >= _LEAST and len(_csv(lines, 0)) == len(lines)


# --- where tables are ---------------------------------------------------------------------------------------------


def _tables(sentences: Sequence[str]) -> Iterator[tuple[int, list[Cells], bool]]:
    """Where each run of two rows or more begins, its cells, and whether it is CSV."""
    columns, i = list(map(_columns, sentences)), 0
    while i < len(sentences):
        end = i
        while end < len(sentences) and is_row(sentences[end]):
            end += 1
        cells, is_csv = list(map(_cells, sentences[i:end])), False
        if not cells and columns[i]:
            end = i + 1
            while end < len(sentences) and _are_aligned(columns[end - 1], columns[end]):
                end += 1
            cells = [[cell[0] for cell in row] for row in columns[i:end]]
        if len(cells) < 2 and i + _LEAST <= len(sentences) and len(found := _csv(sentences, i)) >= _LEAST:
            cells, is_csv = found, True
        if len(cells) > 1:
            yield i, cells, is_csv
        i += max(1, len(cells))


def _cells(row: str) -> Cells:
    return [cell.strip() for cell in row.strip().removeprefix("|").removesuffix("|").split("|")]


def _columns(text: str) -> list[re.Match[str]]:
    """The cells of a row of columns, none of prose."""
    if "\n" in text or text.endswith((".", "!", "?")) or is_row(text) or not has_columns(text):
        return []
    cells = list(_CELL.finditer(text))
    return cells if all(len(cell[0].split()) <= _LONGEST for cell in cells) else []


def _are_aligned(row: Sequence[re.Match[str]], following: Sequence[re.Match[str]]) -> bool:
    """Whether the cells of two rows begin or end at the same places, or stand between tabs."""
    if not row or len(row) != len(following):
        return False
    tabs = "\t" in row[0].string and "\t" in following[0].string
    return tabs or all(a.start() == b.start() or a.end() == b.end() for a, b in zip(row, following, strict=True))


def _csv(lines: Sequence[str], begin: int) -> list[Cells]:
    """The cells of the lines of CSV that begin at a place; none where the first one names no columns."""
    for separator in ";,":
        found = list[Cells]()
        for line in lines[begin:]:
            cells = _separated(line, separator)
            if len(cells) < 2 or (found and len(cells) != len(found[0])):
                break
            found.append(cells)
        names = found[0] if found else [""]
        if all(names) and len({*names}) == len(names) and not any(map(str.isdigit, "".join(names))):
            return found
    return []


def _separated(line: str, separator: str) -> Cells:
    """The cells of a line of CSV, none of prose."""
    if separator not in line or "\n" in line or is_ended(line):
        return []
    try:
        (cells,) = csv.reader([line], delimiter=separator, skipinitialspace=True)
    except csv.Error:
        return []
    return [cell.strip() for cell in cells] if all(len(cell.split()) <= _LONGEST for cell in cells) else []


# --- what their rows say ------------------------------------------------------------------------------------------


def _rows(rows: Sequence[str], cells: Sequence[Cells], is_csv: bool) -> list[str]:
    rules = [is_rule(row) for row in rows]
    if rules[0]:  # of a grid
        return ["", *(_rows(rows[1:], cells[1:], is_csv) if cells[2:] else rows[1:])]
    below = [row for row, rule in zip(cells, rules, strict=True) if not rule][1:]
    if not (is_csv or rules[1] or _names_columns(cells[0], below)):
        return ["" if rule else row for row, rule in zip(rows, rules, strict=True)]
    if not below:
        return list(rows)  # names alone
    names = cells[0]
    whole = [row for row in below if len(row) == len(names)]
    marks = [_marks({row[i].rstrip(_EMOJI).casefold() for row in whole}) for i in range(len(names))]
    said = [
        "" if rule else _row(names, row, marks) if len(row) == len(names) else text
        for text, row, rule in zip(rows[1:], cells[1:], rules[1:], strict=True)
    ]
    return ["", *said]


def _records(sentences: Sequence[str]) -> list[str]:
    """The sentences with what begins a record ("Name: Ada Brink") in front of its other lines ("Room: 12").

    Records are lines of labels and values, of JSON too, of which one label comes again and others between.
    """
    lines = [_FIELD.match(text) for text in sentences]
    labels = [line["label"] if line else "" for line in lines]
    first = next(filter(None, labels), "")
    found, front = [*sentences], ""
    if labels.count(first) < 2 or len({*filter(None, labels)}) < 2:
        return found
    for i, line in enumerate(lines):
        said = f"{line['label']}: {line['value']}" if line else ""
        if said and front and line and line["label"] != first:
            found[i] = f"{front}; {said}."
        front = said if line and line["label"] == first else front
    return found


def _names_columns(names: Cells, below: Sequence[Cells]) -> bool:
    """Whether a first row without a rule names the columns, and is no row as the others are."""
    columns = [[row[i] for row in below if i < len(row) and row[i]] for i in range(len(names))]
    if any(map(str.isdigit, "".join(names))) or any(n and n in c for n, c in zip(names, columns, strict=True)):
        return False
    return any(
        name.casefold() not in _VALUES and 2 * sum(_NUMERIC.match(cell) is not None for cell in column) > len(column)
        for name, column in zip(names, columns, strict=True)
    )


def _marks(told: set[str]) -> dict[str, str]:
    """What the marks of one column say. Beside ticks, "x" is a cross; beside empty cells alone it is a tick."""
    ticked = told & _TICKED or (_X in told and told & _UNTICKED)
    if ticked and told <= _TICKED | _CROSSED | _UNTICKED | {_X}:
        x = "no" if told & _TICKED else "yes"
        return {**_MARKS, **dict.fromkeys(_TICKED, "yes"), **dict.fromkeys(_CROSSED | _UNTICKED, "no"), _X: x}
    return _MARKS


def _row(names: Cells, cells: Cells, marks: Sequence[dict[str, str]]) -> str:
    told = [mark.get(cell.rstrip(_EMOJI).casefold(), cell) for cell, mark in zip(cells, marks, strict=True)]
    said = "; ".join(f"{name}: {cell}" if name else cell for name, cell in zip(names, told, strict=True) if cell)
    return ended(said) if said else ""
