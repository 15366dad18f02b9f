"""Rows to train on: a conversation, documents, and the result that a well-behaved model would give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from intrinsics_core.bench.folder import read_rows
from intrinsics_core.calibration.truths import COLUMNS, label_of
from intrinsics_core.intrinsics.table import Record
from intrinsics_core.protocol.call import Call
from intrinsics_core.protocol.errors import IntrinsicsError, InvalidInput
from intrinsics_core.protocol.results import Result
from intrinsics_core.training.labels import whole_result

_KNOWN = frozenset(("messages", *COLUMNS, "id", "documents", "date", "group"))
_SHOWN = 5  # bad rows that an error names; it counts the others


@dataclass(frozen=True)
class LabelledRow:
    """A row that was understood. ``name`` is what errors call it; rows of one ``group`` are never held from another."""

    name: str
    call: Call[Any]
    result: Result
    group: str


def read(path: Path) -> list[dict[str, Any]]:
    """The rows of a file of JSON Lines, plain or gzipped.

    Raises:
        InvalidInput: a line is no JSON object, or there is none; names file and line.
    """
    if not path.is_file():
        raise InvalidInput(f"there is no file {path}", expected="rows as JSON Lines")
    rows = read_rows(path)
    if not rows:
        raise InvalidInput(f"{path} contains no rows", expected='{"messages": [...], "documents": [...], "label": ...}')
    return rows


def labelled(rows: Sequence[Mapping[str, Any]], record: Record, date: str) -> list[LabelledRow]:
    """All rows, checked; none is left out.

    Args:
        record: of the intrinsic.
        date: text of the date for prompts that carry one, where a row gives none.

    Raises:
        InvalidInput: rows are wrong; names them and what is wrong with each.
    """
    return refusing(list(enumerate(rows, start=1)), lambda pair: _labelled(pair[0], pair[1], record, date))


def refusing(items: Sequence[Any], make: Any) -> list[Any]:
    """What is made of every item; one error for all that cannot be.

    Raises:
        InvalidInput: the first of them, by name, and how many.
    """
    made, wrong = [], []
    for item in items:
        try:
            made.append(make(item))
        except IntrinsicsError as error:
            wrong.append(str(error))
    if wrong:
        more = f"\nand {len(wrong) - _SHOWN} more rows" if len(wrong) > _SHOWN else ""
        raise InvalidInput(f"{len(wrong)} of {len(items)} rows cannot be trained on; nothing was trained:\n"
                           + "\n".join(wrong[:_SHOWN]) + more)  # fmt: skip
    return made


def _labelled(number: int, row: Mapping[str, Any], record: Record, date: str) -> LabelledRow:
    name = f"row {number}" if row.get("id") is None else f"row {number} (id {row['id']!r})"
    if missing := [key for key in ("messages", *(("documents",) if record.needs_documents else ())) if key not in row]:
        raise InvalidInput(f"{name} has no {missing[0]!r}", got=f"keys {', '.join(row)}")
    if (label := label_of(row)) is None:
        raise InvalidInput(f"{name} has neither 'label' nor 'result'", got=f"keys {', '.join(row)}")
    if unknown := sorted(set(row) - _KNOWN):
        raise InvalidInput(f"{name}: {unknown[0]!r} is not a key of a row", expected=", ".join(sorted(_KNOWN)))
    own_date = row.get("date", date)
    if not isinstance(own_date, str):
        raise InvalidInput(f"{name}: date is not text", got=repr(own_date))
    try:
        call = record.function(row["messages"], row.get("documents", ()), date=own_date)
        result = record.result.model_validate(whole_result(label, record.name, call.task.documents))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, ("result", *first["loc"])))
        raise InvalidInput(
            f"{name}: {where}: {first['msg']}", expected=f"the JSON of {record.result.__name__}"
        ) from None
    except IntrinsicsError as error:
        raise InvalidInput(f"{name}: {error}") from error
    for field in ("degraded", "reason"):
        if getattr(result, field) is not None:
            raise InvalidInput(f"{name}: result.{field} is set, so there is no verdict to learn", expected="a verdict")
    return LabelledRow(name, call, result, str(row.get("group", name)))
