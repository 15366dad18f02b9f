"""Rows of a table in words: each cell behind the name of its column, so that a row says by itself what it means."""

from __future__ import annotations

import re
from collections.abc import Sequence

from intrinsics_core.text.columns import with_bars
from intrinsics_core.text.prose import ended

_RULED = frozenset("|:-=+ ")
_NUMBERS = ("#", "no", "nr", "")  # may head a column that numbers the rows
YES, NO = "✅✔☑✓", "❌✗✘✖🚫⛔"
"""Marks that stand for a yes and for a no."""
_MARKS = {**dict.fromkeys(YES, "yes"), **dict.fromkeys(NO, "no")}
_EMOJI = "\ufe0f"  # behind a mark that is drawn as an emoji
_TICKED = frozenset((*YES, "yes", "•", "●"))
_CROSSED = frozenset((*NO, "no"))
_UNTICKED = frozenset(("", "-", "–", "—"))
_X = "x"  # a tick or a cross
_SYMBOLS = frozenset("symbol symbols size sizes grade variable letter class unit axis sign code key".split())  # noqa: SIM905
"""Names of columns in which "x" is neither."""
_VALUES = frozenset((*_UNTICKED, "free", "none", "closed", "included", "sold out", "n/a", "unlimited", "yes", "no"))
"""What stands in place of a number, and names no column of them."""
# A cell that is a number, an amount or a time: "€8", "from 9 a.m.", and not "room 12".
_NUMERIC = re.compile(
    r"\A(?:(?:from|about|ca\.?|approx\.?|up to|until|since|max\.?|min\.?|EUR|USD|CHF|GBP)\s)?\W{0,3}\d", re.IGNORECASE
)


def in_words(sentences: Sequence[str]) -> list[str]:
    """The sentences of one document as they are read: ``Bike: Tandem; Day: €28.`` for ``| Tandem | €28 |``.

    A table is a run of sentences that begin with ``|``, or have two or more of it, or have columns (`with_bars`). Its
    first row names the columns where a rule follows it, or where it holds no digit and most cells of a column below it
    are numbers. A row with another number of cells stays as it is. In a column of ticks and crosses a dash or an empty
    cell says no.

    Args:
        sentences: the sentences of the document in order, a row of a table being one (`layout.laid_out`).

    Returns:
        As many texts. Only rows of such tables differ from what was given: rules, and the row that names the columns,
        become "".
    """
    found, i = with_bars(sentences), 0
    while i < len(found):
        end = i
        while end < len(found) and is_row(found[end]):
            end += 1
        if end - i > 1:
            found[i:end] = _rows(found[i:end])
        i = max(end, i + 1)
    return found


def is_row(text: str) -> bool:
    """Whether a sentence may be a row of a table."""
    return text.startswith("|") or text.count("|") > 1


def is_rule(row: str) -> bool:
    """Whether a row of a table is nothing but the line below the names of its columns."""
    return _RULED.issuperset(row) and ("-" in row or "=" in row)


def _rows(rows: Sequence[str]) -> list[str]:
    names: list[str | None] = [*_cells(rows[0])]
    if not (is_rule(rows[1]) or _names_columns(rows)):
        return ["" if is_rule(row) else row for row in rows]
    if all(map(is_rule, rows[1:])):
        return list(rows)  # names alone
    numbered = _cells(rows[0])[0].strip(".").casefold() in _NUMBERS
    if numbered and _counts([_cells(row)[0] for row in rows[1:] if not is_rule(row)]):
        names[0] = None
    said = _said(_cells(rows[0]), [_cells(row) for row in rows[1:] if not is_rule(row)])
    return ["", *(_row(names, row, said) for row in rows[1:])]


def _names_columns(rows: Sequence[str]) -> bool:
    """Whether a first row without a rule names the columns, and is no row as the others are."""
    names, *below = (_cells(row) for row in rows if not is_rule(row))
    if any(map(str.isdigit, rows[0])):
        return False
    columns = [[cells[i] for cells in below if i < len(cells) and cells[i]] for i in range(len(names))]
    if any(name and name in column for name, column in zip(names, columns, strict=True)):
        return False
    return any(
        name.casefold() not in _VALUES and 2 * sum(map(_is_numeric, column)) > len(column)
        for name, column in zip(names, columns, strict=True)
    )


def _is_numeric(cell: str) -> bool:
    return _NUMERIC.match(cell) is not None


def _said(names: Sequence[str], rows: Sequence[Sequence[str]]) -> list[dict[str, str]]:
    """For each column what its marks say."""
    whole = [cells for cells in rows if len(cells) == len(names)]
    return [
        {} if name.casefold() in _SYMBOLS else _marks([cells[i].rstrip(_EMOJI).casefold() for cells in whole])
        for i, name in enumerate(names)
    ]


def _marks(column: Sequence[str]) -> dict[str, str]:
    """What the marks of one column say. Beside ticks, "x" is a cross; beside empty cells alone it is a tick."""
    told = set(column)
    ticked = told & _TICKED or (_X in told and told & _UNTICKED)
    if ticked and told <= _TICKED | _CROSSED | _UNTICKED | {_X}:
        x = "no" if told & _TICKED else "yes"
        return {**_MARKS, **dict.fromkeys(_TICKED, "yes"), **dict.fromkeys(_CROSSED | _UNTICKED, "no"), _X: x}
    return _MARKS


def _counts(cells: Sequence[str]) -> bool:
    """Whether a column has nothing but the numbers of its rows."""
    return len(cells) > 1 and cells == [str(i) for i in range(1, len(cells) + 1)]


def _row(names: Sequence[str | None], row: str, said_by: Sequence[dict[str, str]]) -> str:
    if is_rule(row):
        return ""
    cells = _cells(row)
    if len(cells) != len(names):
        return row
    told = [
        (name, marks.get(cell.rstrip(_EMOJI).casefold(), cell))
        for name, cell, marks in zip(names, cells, said_by, strict=True)
    ]
    said = "; ".join(f"{name}: {cell}" if name else cell for name, cell in told if name is not None and cell)
    return ended(said) if said else ""


def _cells(row: str) -> list[str]:
    return [cell.strip() for cell in row.strip().removeprefix("|").removesuffix("|").split("|")]
