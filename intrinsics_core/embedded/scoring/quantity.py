"""A number, an amount, a time or a date of a text, as values that can be compared."""

from __future__ import annotations

from typing import NamedTuple


class Quantity(NamedTuple):
    """A quantity and where it stands: ``text[begin:end]``.

    keys: its values with their units; any of them may be meant. Empty for a number without a unit.
    values: of a number, ``1200000`` for "1.2 million"; of a time, its hour on a clock of twelve.
    written: the number before a "million", ``1.2``: a table may say elsewhere that it is in millions.
    implied: what it is a case of, ``part:evening`` of "9 p.m.".
    loose: the unit was taken from another number of a list ("5, 10 or 15 minutes"), so the number may be without one.
    """

    begin: int
    end: int
    keys: frozenset[str]
    values: frozenset[float] = frozenset()
    written: frozenset[float] = frozenset()
    implied: frozenset[str] = frozenset()
    loose: bool = False
