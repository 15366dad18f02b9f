"""Rows of a table in words: each cell behind the name of its column, so that a row says by itself what it means.

A table is a run of lines with bars (Markdown, a grid), with columns made by spaces or tabs, or of CSV.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress

from intrinsics_core.text.prose import ended, is_ended

_RULED = frozenset("|:-=+ ")
YES, NO = "✅✔☑✓", "❌✗✘✖🚫⛔"
"""Marks that stand for a yes and for a no."""
_MARKS = {**dict.fromkeys(YES, "yes"), **dict.fromkeys(NO, "no")}
_EMOJI = "\ufe0f"  # behind a mark that is drawn as an emoji
_TICKED, _CROSSED, _UNTICKED = {*YES, "yes", "•", "●"}, {*NO, "no"}, {"", "-", "–", "—"}
_VALUES = frozenset((*_UNTICKED, "free", "none", "closed", "included", "sold out", "n/a", "unlimited", "yes", "no"))
"""What stands in place of a number, and names no column of them."""
# A cell that is a number, an amount or a time: "€8", "from 9 a.m.", and not "room 12".
_NUMERIC = re.compile(r"\A(?:(?:from|about|up to|until|since|EUR|USD|CHF|GBP)\s)?\W{0,3}\d", re.IGNORECASE)
_GAP = re.compile(r"[ \t]*\t[ \t]*| {2,}")
_WIDE = re.compile(r"[^\s.!?:](?: {3,}+|\t)\S")
_FIELD = re.compile(
    r"\A\W{0,3}(?P<label>[^\W\d][^:\"\n.!?]{0,30})\"?: (?P<q>\"?)(?P<value>[^\n:\"]{1,60}?)(?<![.!?])(?P=q)[,;]?\Z"
)
_CSV = ";,"
_LONGEST = 8  # words of a cell of columns or of CSV
_LEAST = 3  # lines of CSV; two lines of prose may have as many commas

Cells = list[str]


def in_words(sentences: Sequence[str]) -> list[str]:
    """The sentences of one document as they are read: ``Bike: Tandem; Day: €28.`` for ``| Tandem | €28 |``.

    The first row names the columns where a rule follows it, where it is CSV without a digit, or where it holds no digit
    and most cells of a column below it are numbers. A row with another number of cells stays as it is. In a column of
    ticks and crosses a dash or an empty cell says no.

    As many texts as sentences. Only rows of tables differ: rules, and the row that names the columns, become "".
    """
    found = [*sentences]
    for begin, cells, is_csv in _tables(sentences):
        found[begin : begin + len(cells)] = _rows(found[begin : begin + len(cells)], cells, is_csv)
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
    return len(lines) >= _LEAST and any(len(_run(lines, 0, separator)) == len(lines) for separator in _CSV)


# --- where tables are ---------------------------------------------------------------------------------------------


def _tables(sentences: Sequence[str]) -> Iterator[tuple[int, list[Cells], bool]]:
    """Where each table begins, its cells, and whether it is CSV."""
    i = 0
    while i < len(sentences):
        for separator, least in (("|", 2), (" ", 2), (";", _LEAST), (",", _LEAST)):
            if i + least <= len(sentences) and len(cells := _run(sentences, i, separator)) >= least:
                yield i, cells, separator in _CSV
                i += len(cells)
                break
        else:
            i += 1


def _run(lines: Sequence[str], begin: int, separator: str) -> list[Cells]:
    """The cells of the lines from a place on that have as many; none where the first line of CSV names no columns."""
    found = list[Cells]()
    for at in range(begin, len(lines)):
        cells = _cells(lines[at], separator)
        if not cells or (separator != "|" and found and len(cells) != len(found[0])):
            break
        if separator in _CSV and not found and (len({"", *cells}) <= len(cells) or any(map(str.isdigit, lines[at]))):
            break
        found.append(cells)
    return found


def _cells(line: str, separator: str) -> Cells:
    """The cells of a row of a table with bars, of columns or of CSV; none of prose."""
    if is_row(line):
        bare = line.strip().removeprefix("|").removesuffix("|")
        return [cell.strip() for cell in bare.split("|")] if separator == "|" else []
    if "\n" in line or line.endswith((".", "!", "?")):
        return []
    cells = Cells()
    if separator == " ":
        cells = _GAP.split(line) if has_columns(line) else []
    elif separator in line and not is_ended(line):
        with suppress(csv.Error):
            cells = [cell.strip() for cell in next(csv.reader([line], delimiter=separator, skipinitialspace=True))]
    return cells if len(cells) > 1 and all(len(cell.split()) <= _LONGEST for cell in cells) else []


# --- what their rows say ------------------------------------------------------------------------------------------


def _rows(rows: Sequence[str], cells: Sequence[Cells], is_csv: bool) -> list[str]:
    if is_rule(rows[0]):  # of a grid
        return ["", *(_rows(rows[1:], cells[1:], is_csv) if cells[2:] else rows[1:])]
    bare = ["" if is_rule(row) else row for row in rows]
    names, *below = [row for row, text in zip(cells, bare, strict=True) if text]
    if not (is_csv or not bare[1] or _names_columns(names, below)):
        return bare
    if not below:
        return list(rows)  # names alone
    whole = [row for row in below if len(row) == len(names)]
    marks = [_marks({cell.rstrip(_EMOJI).casefold() for cell in column}) for column in zip(*whole, strict=True)]
    return [
        _row(names, row, marks) if i and text and len(row) == len(names) else text if i else ""
        for i, (text, row) in enumerate(zip(bare, cells, strict=True))
    ]


def _records(sentences: Sequence[str]) -> list[str]:
    """The sentences with what begins a record ("Name: Ada Brink") in front of its other lines ("Room: 12").

    Records are lines of labels and values, of JSON too, of which one label comes again and others between.
    """
    fields = [line.group("label", "value") if (line := _FIELD.match(text)) else ("", "") for text in sentences]
    labels = [label for label, _ in fields if label]
    found, front = [*sentences], ""
    if len({*labels}) < 2 or labels.count(labels[0]) < 2:
        return found
    for i, (label, value) in enumerate(fields):
        if label == labels[0]:
            front = f"{label}: {value}"
        elif label and front:
            found[i] = f"{front}; {label}: {value}."
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
    ticked = told & _TICKED or ("x" in told and told & _UNTICKED)
    if not ticked or not told <= _TICKED | _CROSSED | _UNTICKED | {"x"}:
        return _MARKS
    x = {"x": "no" if told & _TICKED else "yes"}
    return dict.fromkeys(_TICKED, "yes") | dict.fromkeys(_CROSSED | _UNTICKED, "no") | x


def _row(names: Cells, cells: Cells, marks: Sequence[dict[str, str]]) -> str:
    told = [mark.get(cell.rstrip(_EMOJI).casefold(), cell) for cell, mark in zip(cells, marks, strict=True)]
    said = "; ".join(f"{name}: {cell}" if name else cell for name, cell in zip(names, told, strict=True) if cell)
    return ended(said) if said else ""
