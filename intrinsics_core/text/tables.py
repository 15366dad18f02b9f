"""Rows of a table in words: each cell behind the name of its column, so that a row says by itself what it means."""

from __future__ import annotations

from collections.abc import Sequence

from intrinsics_core.text.columns import with_bars
from intrinsics_core.text.prose import ended

_RULED = frozenset("|:-=+ ")
_NUMBERS = ("#", "no", "nr", "")  # may head a column that numbers the rows
YES, NO = "✅✔☑✓", "❌✗✘✖🚫⛔"
"""Marks that stand for a yes and for a no."""
_MARKS = {**dict.fromkeys(YES, "yes"), **dict.fromkeys(NO, "no")}
_EMOJI = "\ufe0f"  # behind a mark that is drawn as an emoji


def in_words(sentences: Sequence[str]) -> list[str]:
    """The sentences of one document as they are read: ``Bike: Tandem; Day: €28.`` for ``| Tandem | €28 |``.

    A table is a run of sentences that begin with ``|``, or have two or more of it, or have columns (`with_bars`). Its
    first row names the columns where a rule follows it, or where it holds no digit and a later row does. A row with
    another number of cells stays as it is.

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
    plain = not any(map(str.isdigit, rows[0])) and any(c.isdigit() for row in rows[1:] for c in row)
    if not (plain or is_rule(rows[1])):
        return ["" if is_rule(row) else row for row in rows]
    if all(map(is_rule, rows[1:])):
        return list(rows)  # names alone
    numbered = _cells(rows[0])[0].strip(".").casefold() in _NUMBERS
    if numbered and _counts([_cells(row)[0] for row in rows[1:] if not is_rule(row)]):
        names[0] = None
    return ["", *(_row(names, row) for row in rows[1:])]


def _counts(cells: Sequence[str]) -> bool:
    """Whether a column has nothing but the numbers of its rows."""
    return len(cells) > 1 and cells == [str(i) for i in range(1, len(cells) + 1)]


def _row(names: Sequence[str | None], row: str) -> str:
    if is_rule(row):
        return ""
    cells = _cells(row)
    if len(cells) != len(names):
        return row
    told = [(name, _MARKS.get(cell.rstrip(_EMOJI), cell)) for name, cell in zip(names, cells, strict=True) if cell]
    said = "; ".join(f"{name}: {cell}" if name else cell for name, cell in told if name is not None)
    return ended(said) if said else ""


def _cells(row: str) -> list[str]:
    return [cell.strip() for cell in row.strip().strip("|").split("|")]
