"""How many examples a test draws: a few in the everyday run, all that it was written for in the slow one."""

from __future__ import annotations

EVERY_DAY = 30
_at_length = False


def at_length() -> None:
    """From now on `drawn` gives the whole number; conftest.py says so where the slow tests are asked for."""
    global _at_length
    _at_length = True


def drawn(examples: int, every_day: int = EVERY_DAY) -> int:
    """``every_day`` is less where a test has many rows."""
    return examples if _at_length else min(examples, every_day)
