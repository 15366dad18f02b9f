"""JSON as the standard has it: Python's reader lets in ``NaN`` and turns ``1e999`` into infinity."""

from __future__ import annotations

import json
from typing import Any


def loads(text: str) -> Any:
    """The value that a text spells.

    Raises:
        ValueError: it spells none, or a number that JSON does not have.
        RecursionError: it is nested too deeply.
    """
    return json.loads(text, parse_constant=no_number, parse_float=finite)


def no_number(name: str) -> Any:
    """``parse_constant`` of a decoder. Raises ValueError."""
    raise ValueError(f"{name} is not a JSON number")


def finite(text: str) -> float:
    """``parse_float`` of a decoder. Raises ValueError where the number is too large for a float."""
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise ValueError(f"{text[:40]} is a number too large to read")
    return number
