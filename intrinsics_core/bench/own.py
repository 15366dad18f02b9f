"""Rows of a user's own file as a conversation with documents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from intrinsics_core.protocol.errors import InvalidInput

Row = Mapping[str, Any]

TRUTHS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


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
    """``documents``: texts, or objects with a ``text``; one text is a list of one."""
    given = needed(row, "documents")
    return [given] if isinstance(given, str) else list(given)


def texts(row: Row) -> tuple[str, ...]:
    """The texts of the documents."""
    return tuple(d if isinstance(d, str) else d["text"] for d in documents(row))


def answer(row: Row) -> str:
    """``answer``, or the last of the ``messages``."""
    found: str = row["messages"][-1]["content"] if row.get("messages") else needed(row, "answer")
    return found


def truth(row: Row, *, column: str = "label", others: Mapping[str, bool] = TRUTHS) -> bool:
    """The label as true or false.

    Raises:
        InvalidInput: it is neither, and none of the words that stand for one.
    """
    value = needed(row, column)
    if isinstance(value, bool | int) and value in (0, 1):
        return bool(value)
    if isinstance(value, str) and value.casefold() in {**TRUTHS, **others}:
        return {**TRUTHS, **others}[value.casefold()]
    raise InvalidInput(
        f"{column} is not a known label", expected=f"true, false or one of {', '.join(others)}", got=repr(value)[:80]
    )


def needed(row: Row, column: str) -> Any:
    """The value of a column.

    Raises:
        InvalidInput: the row has none; the message names those that it has, and how to name another.
    """
    if row.get(column) is None:
        raise InvalidInput(f"the row has no {column!r}", expected=f"the column, or --column {column}=NAME",
                           got=f"the columns {', '.join(map(repr, row)) or '(none)'}")  # fmt: skip
    return row[column]
