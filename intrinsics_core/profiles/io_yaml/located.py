"""JSON whose labels (strings, whole numbers, booleans) remember where they stood in the reply, so that
log-probabilities can be found for them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

from intrinsics_core.replies import literals


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
        raise ValueError(f"{text} is a number too large to read")
    return value


def _constant(text: str) -> Any:
    raise ValueError(f"{text} is not JSON")


class _KeyedPairs(list[tuple[str, Any]]):
    """An object before its values are placed: a key that comes twice is there twice."""


class Decoder(json.JSONDecoder):
    """Strings come out as :class:`Located`, whole numbers as :class:`Whole`, booleans as :class:`Flag`; NaN and
    infinities, which are no JSON, are refused.
    """

    def __init__(self) -> None:
        super().__init__(parse_constant=_constant, parse_float=_number, object_pairs_hook=_KeyedPairs)

    def raw_decode(self, s: str, idx: int = 0) -> tuple[Any, int]:
        value, end = super().raw_decode(s, idx)
        read = s.original if isinstance(s, literals.Spelled) else s
        return _placed(value, literals.scalars(read, idx)), end


_KINDS: dict[type, Any] = {str: Located, int: Whole, bool: Flag}


def _placed(value: Any, places: Iterator[int]) -> Any:
    """The value with its labels placed; ``places`` are those of all its scalars and keys, in order."""
    if isinstance(value, _KeyedPairs):
        return {key: _placed(item, places) for key, item in value for _of_key in [next(places, -1)]}
    if isinstance(value, list):
        return [_placed(item, places) for item in value]
    begin, kind = next(places, -1), _KINDS.get(type(value))
    if kind is not None:
        value = kind(value)
        value.begin = begin
    return value


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
