"""JSON out of a model's reply.

Documented repairs, and no others: prose or a code fence around the JSON is passed over, and so is an empty object that
another one follows; a JSON string that holds JSON is opened (once); quotes and names of Python, a comma too many, and a
raw newline, tab or lone backslash in a string are read as what they mean (`literals`); the first value of the wanted
kind counts, but nothing inside a value of another kind. A truncated reply is malformed, not repaired: what was cut off
is unknown, and a list inside it is not the list that was asked for.
"""

from __future__ import annotations

import json
import re
from typing import Any

from intrinsics_core.protocol.errors import MalformedReply
from intrinsics_core.replies import literals

_OPENER = re.compile(r"[\[{]")
_DECODER = json.JSONDecoder()
_ATTEMPTS = 64  # opening brackets tried; prose with thousands of brackets must not cost quadratic time


def parse(text: str, kind: type, expected: str, decoder: json.JSONDecoder = _DECODER) -> Any:
    """The first JSON value of ``kind`` (dict or list) in a reply.

    Args:
        expected: what the reply should have been, for the error.
        decoder: another decoder, for callers to whom a repeated key or the place of a value matters.

    Raises:
        MalformedReply: there is none.
    """
    try:
        value = decoder.decode(text)
        if isinstance(value, str):
            text = value
            value = decoder.decode(value)
        if isinstance(value, kind):
            return writable(value, text, expected)
    except (ValueError, RecursionError):
        pass
    end, empty = 0, None
    for _ in range(_ATTEMPTS):
        opener = _OPENER.search(text, end)
        if opener is None:
            break
        end = opener.end()
        try:
            value, end = _value(text, opener.start(), decoder)
        except (literals.CutOff, RecursionError):
            break  # nothing nests so deeply that we asked for, and the next bracket is only one less deep
        except ValueError:
            continue
        if value == {} and kind is dict:
            empty = value  # {} in prose; the answer may follow
        elif isinstance(value, kind):
            return writable(value, text, expected)
    if empty is not None:
        return empty
    raise MalformedReply("the reply contains no JSON of the expected form", expected=expected, got=repr(text), raw=text)


def writable(value: Any, text: str, expected: str) -> Any:
    """The value, if all its text can be written down: JSON can spell half a surrogate pair, and no encoding can.

    Raises:
        MalformedReply: it cannot.
    """
    try:
        (text if "\\ud" not in text.lower() else json.dumps(value, ensure_ascii=False)).encode()
    except UnicodeEncodeError:
        raise MalformedReply(
            "the reply contains half of a surrogate pair", expected=expected, got=repr(text), raw=text
        ) from None
    return value


def _value(text: str, begin: int, decoder: json.JSONDecoder) -> tuple[Any, int]:
    """The value at a bracket, and where it ends. Of a whole value of another kind, nothing inside is looked at.

    Raises:
        CutOff: the text ends within it.
        ValueError: there is none.
    """
    try:
        return decoder.raw_decode(text, begin)
    except json.JSONDecodeError as error:
        if error.msg.startswith("Unterminated") or not text[error.pos :].strip():
            raise literals.CutOff(str(error)) from None
    spelled, end = literals.as_json(text, begin)
    return decoder.decode(spelled), end


def field(value: dict[str, Any], name: str, kinds: type | tuple[type, ...], expected: str, raw: str) -> Any:
    """A field of an object, of one of these types. A bool is never a number.

    Raises:
        MalformedReply: it is missing or of another type.
    """
    got = value.get(name)
    if not isinstance(got, kinds) or (
        isinstance(got, bool) and bool not in (kinds if isinstance(kinds, tuple) else (kinds,))
    ):
        raise MalformedReply(f"field {name!r} of the reply is missing or of the wrong type", expected=expected,
                             got=repr(got), raw=raw)  # fmt: skip
    return got


def label(text: str, options: tuple[str, ...], raw: str) -> str:
    """One of ``options``, whatever its case and the space or quotes around it.

    Raises:
        MalformedReply: it is none of them.
    """
    wanted = " ".join(text.strip().strip("\"'`.").casefold().split())
    for option in options:
        if option.casefold() == wanted:
            return option
    raise MalformedReply(
        "the reply is not a known label", expected=f"one of {', '.join(options)}", got=repr(text), raw=raw
    )
