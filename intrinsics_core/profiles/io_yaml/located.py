"""JSON whose strings remember where they stood in the reply, so that log-probabilities can be found for them."""

from __future__ import annotations

import json
import json.decoder
import json.scanner
import math
from collections.abc import Callable
from typing import Any


class Located(str):
    """A string; ``begin`` is the place of its opening quote in the reply, -1 where unknown."""

    begin = -1


class Offset(int):
    """A character offset; ``source`` is the text it counts in."""

    source = ""


def located(text: str, begin: int) -> Located:
    made = Located(text)
    made.begin = begin
    return made


def begin_in(text: str, value: Any) -> int:
    """Where a value of a reply's JSON begins in the reply, -1 where that is not known for certain."""
    begin = getattr(value, "begin", -1)
    found = begin >= 0 and (text.startswith(f'"{value}"', begin) or text.startswith(value, begin))
    return begin if found else -1


def offset(value: int, source: str) -> Offset:
    made = Offset(value)
    made.source = source
    return made


def _number(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text} is too large a number")
    return value


def _constant(text: str) -> Any:
    raise ValueError(f"{text} is no JSON")


class Decoder(json.JSONDecoder):
    """Strings come out as :class:`Located`; NaN and infinities, which are no JSON, are refused."""

    def __init__(self) -> None:
        super().__init__(parse_constant=_constant, parse_float=_number)
        scan: Callable[[str, int, bool], tuple[str, int]] = json.decoder.scanstring  # type: ignore[attr-defined]

        def parse_string(text: str, end: int, strict: bool = True) -> tuple[str, int]:
            value, after = scan(text, end, strict)
            return located(value, end - 1), after

        self.parse_string = parse_string
        # The C scanner knows no hook for strings; replies are short.
        self.scan_once = json.scanner.py_make_scanner(self)  # type: ignore[attr-defined]


def plain(value: Any) -> Any:
    """The value as ordinary JSON types."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, Located):
        return str(value)
    return int(value) if isinstance(value, Offset) else value
