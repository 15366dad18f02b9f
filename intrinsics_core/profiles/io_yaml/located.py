"""JSON whose labels (strings, whole numbers, booleans) remember where they stood in the reply, so that
log-probabilities can be found for them.
"""

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


class Whole(int):
    """A whole number; ``begin`` is the place of its first character in the reply."""

    begin = -1


class Flag(int):
    """A boolean, which Python lets nobody extend; ``begin`` is the place of its first character in the reply."""

    begin = -1


class Offset(int):
    """A character offset; ``source`` is the text it counts in."""

    source = ""


def located(text: str, begin: int) -> Located:
    made = Located(text)
    made.begin = begin
    return made


def label_text(value: Any) -> str:
    """A label as the reply spells it."""
    if isinstance(value, bool | Flag):
        return "true" if value else "false"
    return str(int(value)) if isinstance(value, int) else str(value)


def begin_in(text: str, value: Any) -> int:
    """Where a value of a reply's JSON begins in the reply, -1 where that is not known for certain."""
    begin, label = getattr(value, "begin", -1), label_text(value)
    return begin if begin >= 0 and (text.startswith(f'"{label}"', begin) or text.startswith(label, begin)) else -1


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
    """Strings come out as :class:`Located`, whole numbers as :class:`Whole`, booleans as :class:`Flag`; NaN and
    infinities, which are no JSON, are refused.
    """

    def __init__(self) -> None:
        super().__init__(parse_constant=_constant, parse_float=_number)
        scan: Callable[[str, int, bool], tuple[str, int]] = json.decoder.scanstring  # type: ignore[attr-defined]

        def parse_string(text: str, end: int, strict: bool = True) -> tuple[str, int]:
            value, after = scan(text, end, strict)
            return located(value, end - 1), after

        self.parse_string = parse_string
        self.parse_object = self._within(json.decoder.JSONObject, 2)  # type: ignore[attr-defined]
        self.parse_array = self._within(json.decoder.JSONArray, 1)  # type: ignore[attr-defined]
        # The C scanner knows no hook for strings; replies are short.
        self._scan: Callable[[str, int], tuple[Any, int]] = json.scanner.py_make_scanner(self)  # type: ignore[attr-defined]
        self.scan_once = self._placed

    def _placed(self, text: str, begin: int) -> tuple[Any, int]:
        value, end = self._scan(text, begin)
        kind = Flag if isinstance(value, bool) else Whole if type(value) is int else None
        if kind is not None:
            value = kind(value)
            value.begin = begin
        return value, end

    def _within(self, parse: Callable[..., Any], scanner: int) -> Callable[..., Any]:
        """The parser of objects or arrays, whose argument number ``scanner`` finds the values inside: ours."""

        def parsed(*arguments: Any) -> Any:
            return parse(*arguments[:scanner], self._placed, *arguments[scanner + 1 :])

        return parsed


def plain(value: Any) -> Any:
    """The value as ordinary JSON types."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, Located):
        return str(value)
    if isinstance(value, Flag):
        return bool(value)
    return int(value) if isinstance(value, Offset | Whole) else value


def unplaced(value: Any) -> Any:
    """The value with plain booleans, which no check takes for numbers; what it is made of stays as it is."""
    if isinstance(value, dict):
        return {key: unplaced(item) for key, item in value.items()}
    if isinstance(value, list):
        return [unplaced(item) for item in value]
    return bool(value) if isinstance(value, Flag) else value
