"""Rows of the command line and the service: bytes of JSON to a checked call, an outcome to bytes of JSON.

A row that cannot be understood is a value.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from intrinsics_core._support import strict_json
from intrinsics_core.protocol.call import Call
from intrinsics_core.protocol.errors import IntrinsicsError, InvalidInput, as_intrinsics_error
from intrinsics_core.protocol.results import Result

Build = Callable[[Any, Any], Call[Any]]  # (messages, documents) -> call

BOM = b"\xef\xbb\xbf"
EXPECTED = '{"id": ..., "messages": [{"role", "content"}], "documents": [{"id", "text"}]}'
# Text to JSON, but line breaks to programs that split lines as Unicode does.
_LINE_BREAKS = str.maketrans({"\x85": "\\u0085", "\u2028": "\\u2028", "\u2029": "\\u2029"})


@dataclass(frozen=True, slots=True)
class Row:
    """``call`` is the error where the row could not be understood; ``id`` is None where it has none."""

    id: Any
    call: Call[Any] | IntrinsicsError


def read(lines: Iterable[bytes], build: Build, *, skip: int = 0, needs_documents: bool = False) -> Iterator[Row]:
    """Rows of a JSON Lines file, one at a time. Lines of white space alone are no rows.

    Args:
        lines: as a binary file gives them.
        build: makes the call of a row.
        skip: leave out this many rows from the start, unread.
        needs_documents: whether a row without the key ``documents`` is wrong; an empty list is a list.

    Returns:
        The rows, one at a time, in the order of the file.
    """
    for number, line in islice(numbered(lines), skip, None):
        yield parse(line, number, build, needs_documents=needs_documents)


def numbered(lines: Iterable[bytes], first: int = 1) -> Iterator[tuple[int, bytes]]:
    """Lines of a JSON Lines file that are not blank, with their numbers; ``first`` is that of the first line."""
    for number, line in enumerate(lines, first):
        line = line.removeprefix(BOM) if number == 1 else line
        if line.strip():
            yield number, line


def ids(lines: Iterable[bytes]) -> Iterator[Any]:
    """The id of each row of a JSON Lines file; None where it has none, or is none."""
    for _, line in numbered(lines):
        try:
            own = json_object(line).get("id")
            json.dumps(own, allow_nan=False)
        except (IntrinsicsError, ValueError, RecursionError):
            own = None
        yield own


def parse(line: bytes, number: int, build: Build, *, needs_documents: bool = False) -> Row:
    """The row of one line; its number is named in what is wrong with it.

    Args:
        line: one line of the file, in bytes.
        number: the line's number, from 1.
        build: makes the call of a row.
        needs_documents: whether a row without the key ``documents`` is wrong.

    Returns:
        The row, with its call or its error.
    """
    identity = None
    try:
        row = json_object(line)
        identity = row.get("id")
        return Row(identity, checked(row, build, needs_documents=needs_documents))
    except Exception as error:  # whatever a row holds, it costs no other row
        known = as_intrinsics_error(error)
        known.message = f"line {number}: {known.message}"
        return Row(identity, known)


def checked(row: Mapping[str, Any], build: Build, *, needs_documents: bool = False) -> Call[Any]:
    """The call of a row.

    Args:
        row: the object of one line.
        build: makes the call of a row.
        needs_documents: whether a row without the key ``documents`` is wrong.

    Returns:
        The checked call.

    Raises:
        InvalidInput: a key is missing, or what it holds cannot be used.
    """
    for key in ("messages", "documents") if needs_documents else ("messages",):
        if key not in row:
            raise InvalidInput(f"the row has no {key!r}", expected=EXPECTED, got=f"keys {', '.join(row)}")
    return build(row["messages"], row.get("documents", ()))


def json_object(line: bytes) -> dict[str, Any]:
    """The JSON object that some bytes spell.

    Raises:
        InvalidInput: they spell none, or a number that JSON does not have.
    """
    try:
        value = strict_json.loads(line.removeprefix(BOM).decode("utf-8"))
    except UnicodeDecodeError as error:
        raise InvalidInput(f"not UTF-8: byte 0x{line[error.start]:02x} at {error.start}") from None
    except json.JSONDecodeError as error:
        raise InvalidInput(f"not JSON: {error.msg} (column {error.colno})", expected=EXPECTED) from None
    except RecursionError:
        raise InvalidInput("the row is nested too deeply", expected=EXPECTED) from None
    except ValueError as error:
        raise InvalidInput(f"not JSON: {error}", expected=EXPECTED) from None
    if not isinstance(value, dict):
        raise InvalidInput("not a JSON object", expected=EXPECTED, got=type(value).__name__)
    return value


def encode(
    identity: Any, outcome: Result | IntrinsicsError, hide: Callable[[str], str] = str, cited: Any = None
) -> bytes:
    """The output line of a row. ``hide`` takes keys out of what errors say; ``cited`` shows a result's citations.

    Args:
        identity: the row's id, as it was given.
        outcome: the result or the error of the row.
        hide: takes keys out of what errors say.
        cited: the result's citations as they are shown, or None.

    Returns:
        One line of JSON in UTF-8.
    """
    if isinstance(outcome, IntrinsicsError):
        error = {"type": type(outcome).__name__, "message": hide(str(outcome))}
        if outcome.raw is not None:
            error["raw"] = hide(outcome.raw)
        body: dict[str, Any] = {"error": error}
    else:
        body = {"result": outcome.model_dump(mode="json")} | ({} if cited is None else {"cited": cited})
    try:
        return written({"id": identity} | body)
    except (ValueError, RecursionError):
        return written({"id": None} | body)  # an id that JSON let in but does not let out


def written(value: Mapping[str, Any] | Sequence[Any]) -> bytes:
    """A line of JSON, for any text that JSON can spell.

    Raises:
        ValueError: a number that JSON does not have.
    """
    return json_text(value).translate(_LINE_BREAKS).encode("utf-8") + b"\n"


def json_text(value: Any) -> str:
    """JSON that UTF-8 can encode: half a surrogate pair has no UTF-8, but JSON can spell it.

    Raises:
        ValueError: a number that JSON does not have.
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return json.dumps(value, allow_nan=False)
    return text
