"""Intrinsics and their options by name, typed by the signature of the function."""

from __future__ import annotations

import typing
from collections.abc import Callable, Mapping, Sequence
from inspect import signature
from typing import Any

from pydantic import TypeAdapter, ValidationError

from intrinsics_core.intrinsics.adapter import PREFIX, record
from intrinsics_core.intrinsics.table import TABLE, Record
from intrinsics_core.protocol.errors import InvalidInput
from intrinsics_core.protocol.names import named, plain, unknown
from intrinsics_core.protocol.validation import expected_by

# The shortest inputs that there are.
QUESTION = [{"role": "user", "content": "?"}]
ANSWERED = [*QUESTION, {"role": "assistant", "content": "!"}]
_NOT_OPTIONS = {"on_error", "date"}  # these are said beside the options


def record_of(name: str, *, called: str = "intrinsic") -> Record:
    """The record of the intrinsic of that name; hyphens and underscores are the same.

    ``adapter:NAME`` is what :func:`intrinsics_core.adapter` asks for by that name.

    Args:
        called: what the name is called in the error.

    Raises:
        InvalidInput: there is none; the message has the nearest name.
    """
    if isinstance(name, str) and name.startswith(PREFIX) and (of := name[len(PREFIX) :].strip()):
        return record(plain(of))
    return TABLE[named(called, name, TABLE, otherwise=f", or {PREFIX}NAME for any other of the profile's")]


def from_texts(record: Record, pairs: Sequence[str], *, called: str) -> dict[str, Any]:
    """``key=value`` texts as keyword arguments of an intrinsic.

    Args:
        called: what an option is called in errors.

    Raises:
        InvalidInput: no such option, or a value that it does not take.
    """
    found: dict[str, Any] = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not equals:
            raise InvalidInput(f"{called} is not of the form key=value", intrinsic=record.name, got=repr(pair))
        name = name.strip().replace("-", "_")
        hint, text = _hint(record, name, called), text.strip()
        none = text.lower() in ("none", "null") and type(None) in typing.get_args(hint)
        taken = TypeAdapter(hint)
        read = taken.validate_json if text.startswith("{") else taken.validate_strings
        found[name] = None if none else _value(record, f"{called} {name}", read, text)
    return probed(record, found)


def from_json(record: Record, given: Mapping[str, Any], *, called: str) -> dict[str, Any]:
    """Values of a JSON object as keyword arguments of an intrinsic.

    Args:
        called: what an option is called in errors.

    Raises:
        InvalidInput: no such option, or a value that it does not take.
    """
    found: dict[str, Any] = {}
    for key, value in given.items():
        name = key.replace("-", "_")
        read = TypeAdapter(_hint(record, name, called)).validate_python
        found[name] = _value(record, f"{called} {name}", read, value)
    return probed(record, found)


def _hint(record: Record, name: str, called: str) -> Any:
    hints = typing.get_type_hints(record.function)
    known = [
        option
        for option, parameter in signature(record.function).parameters.items()
        if parameter.kind is parameter.KEYWORD_ONLY and option not in _NOT_OPTIONS
    ]
    if name not in known:
        raise unknown(f"{called} names an unknown option", name, known, intrinsic=record.name)
    return hints[name]


def _value(record: Record, called: str, read: Callable[[Any], Any], given: Any) -> Any:
    try:
        return read(given)
    except ValidationError as error:
        raise InvalidInput(f"the value of {called} is wrong", intrinsic=record.name,
                           expected=expected_by(error.errors()[0]), got=repr(given)) from None  # fmt: skip


def probed(record: Record, options: dict[str, Any]) -> dict[str, Any]:
    """The options, once it is known that the intrinsic takes their values.

    Raises:
        InvalidInput: it does not take one of them.
    """
    for messages in (QUESTION, ANSWERED) if options else ():
        try:
            record.function(messages, ["."], **options)
            break
        except InvalidInput as error:
            if not error.message.startswith("messages"):
                raise
    return options
