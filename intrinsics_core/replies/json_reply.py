"""JSON out of a model's reply.

Documented repairs, and no others: prose or a code fence around the JSON is passed over; a JSON string that holds JSON
is opened (once); the first value of the wanted kind counts, but nothing inside a value of another kind. A truncated
reply is malformed, not repaired: what was cut off is unknown, and a list inside it is not the list that was asked for.
"""

from __future__ import annotations

import json
import re
from typing import Any

from intrinsics_core.errors import MalformedReply

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
    end = 0
    for _ in range(_ATTEMPTS):
        opener = _OPENER.search(text, end)
        if opener is None:
            break
        end = opener.end()
        try:
            value, after = decoder.raw_decode(text, opener.start())
        except json.JSONDecodeError as error:
            if _truncated(error):
                break
            continue
        except RecursionError:
            break  # no reply of ours nests like that, and the next bracket is only one less deep
        except ValueError:
            continue
        if isinstance(value, kind):
            return writable(value, text, expected)
        end = after  # a whole value of another kind: what is inside it is not what was asked for
    raise MalformedReply("the reply holds no such JSON", expected=expected, got=repr(text), raw=text)


def writable(value: Any, text: str, expected: str) -> Any:
    """The value, if all its text can be written down: JSON can spell half a surrogate pair, and no encoding can.

    Raises:
        MalformedReply: it cannot.
    """
    try:
        (text if "\\ud" not in text.lower() else json.dumps(value, ensure_ascii=False)).encode()
    except UnicodeEncodeError:
        raise MalformedReply(
            "the reply holds half a surrogate pair", expected=expected, got=repr(text), raw=text
        ) from None
    return value


def _truncated(error: json.JSONDecodeError) -> bool:
    return error.msg.startswith("Unterminated") or not error.doc[error.pos :].strip()


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
