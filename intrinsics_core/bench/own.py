"""Rows of a user's own file as a conversation with documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from intrinsics_core.bench.support_sets import Answered
from intrinsics_core.calibration import truths
from intrinsics_core.protocol.errors import InvalidInput

Row = Mapping[str, Any]

# What tables read of a row.
COLUMNS = ("question", "messages", "answer", "documents", "label", "relevant")


def conversation(row: Row, *, answered: bool) -> list[dict[str, str]]:
    """``messages``, or ``question`` (and ``answer``).

    Raises:
        InvalidInput: the row has neither.
    """
    if row.get("messages") is not None:
        return list(row["messages"])
    turns = [{"role": "user", "content": needed(row, "question")}]
    return [*turns, {"role": "assistant", "content": needed(row, "answer")}] if answered else turns


def documents(row: Row) -> list[Any]:
    """``documents``: texts, or objects with a ``text``; one text or object is a list of one."""
    given = needed(row, "documents")
    return [given] if isinstance(given, str | Mapping) else list(given)


def texts(row: Row) -> tuple[str, ...]:
    """The texts of the documents."""
    return texts_of(documents(row))


def texts_of(documents: Sequence[Any]) -> tuple[str, ...]:
    return tuple(d if isinstance(d, str) else d["text"] for d in documents)


def answer(row: Row) -> str:
    """``answer``, or the last of the ``messages``."""
    found: str = row["messages"][-1]["content"] if row.get("messages") else needed(row, "answer")
    return found


def answered(row: Row, intrinsic: str) -> Answered:
    """The answer over its documents, with its label."""
    return Answered(answer(row), texts(row), truth(row, intrinsic), row.get("question") or "")


def truth(row: Row, intrinsic: str, column: str = "label") -> bool:
    """The label as true or false, see `intrinsics_core.calibration.truths`.

    Raises:
        InvalidInput: there is none, or it is neither.
    """
    said = truths.label_of(row) if column == "label" else row.get(column)
    return truths.truth(needed(row, column) if said is None else said, intrinsic, column)


def needed(row: Row, column: str) -> Any:
    """The value of a column.

    Raises:
        InvalidInput: the row has none; the message names those that it has, and how to name another.
    """
    if row.get(column) is None:
        raise InvalidInput(f"the row has no {column!r}", expected=f"the column, or --column {column}=NAME",
                           got=f"the columns {', '.join(map(repr, row)) or '(none)'}")  # fmt: skip
    return row[column]
