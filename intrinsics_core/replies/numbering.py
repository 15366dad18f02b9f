"""Replies that count sentences or documents from another number than they were shown with.

A model that was shown ``r0`` and ``r1`` and speaks of ``r1`` and ``r2`` counts from 1. Each thing that it says would be
taken for its neighbour's, so none of it is read. One id too many, as ``r99``, is no such sign: it is dropped by itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from intrinsics_core.protocol.errors import MalformedReply
from intrinsics_core.protocol.requests import Generated

_MOST = 10  # numbers in an error


def check(named: Iterable[Any], shown: Sequence[int], reply: Generated) -> None:
    """Refuse a reply whose numbers are those that were shown, moved up by one or down.

    Args:
        named: the numbers in the reply's ids; what is no number is passed over.
        shown: the numbers that were shown, ascending.

    Raises:
        MalformedReply: the first one that was shown is not named but the one past the last is, or the other way round.
    """
    numbers = {number for number in named if isinstance(number, int) and not isinstance(number, bool)}
    if not shown or not numbers:
        return
    first, last = shown[0], shown[-1]
    moved_up = last + 1 in numbers and first not in numbers
    moved_down = last not in numbers and any(0 <= number < first for number in numbers)
    if moved_up or moved_down:
        raise MalformedReply(_told(sorted(numbers), shown), got=repr(sorted(numbers)),
                             expected=f"ids from {first} to {last}, as they were shown", raw=reply.text)  # fmt: skip


def _told(named: Sequence[int], shown: Sequence[int]) -> str:
    if shown[0] == 0:
        return f"the ids in the reply are numbered from {named[0]}"
    # A model that is asked again is shown those alone that have no verdict.
    return f"the ids in the reply are {_listed(named)} in place of {_listed(shown)}"


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers[:_MOST])) + (", …" if len(numbers) > _MOST else "")
