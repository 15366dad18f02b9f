"""How many examples a test has: a few in the everyday run, all that it was written for in the slow one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

EVERY_DAY = 10
_at_length = False


def at_length() -> None:
    """From now on `drawn` gives the whole number; conftest.py says so where the slow tests are asked for."""
    global _at_length
    _at_length = True


def drawn(examples: int, every_day: int = EVERY_DAY) -> int:
    """``every_day`` is less where a test has many rows."""
    return examples if _at_length else min(examples, every_day)


def listed(rows: Mapping[str, Any] | Sequence[Any], *every_day: Any) -> list[Any]:
    """The rows of a test, of which those named are in the everyday run and all are in the slow one.

    Args:
        rows: values of a parameter, or values by their ids.
        every_day: ids, or values where there are no ids.
    """
    named = rows.items() if isinstance(rows, Mapping) else [(row, row) for row in rows]
    assert set(every_day) <= {name for name, _ in named}
    return [
        pytest.param(value, id=str(name), marks=() if name in every_day else pytest.mark.slow) for name, value in named
    ]
