"""What of a request does not fit, as one error: of what pydantic found, the place and what would be right there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import takewhile
from typing import Any

from intrinsics_core import InvalidInput
from intrinsics_core.protocol.validation import expected_by, located


def misfit(errors: Iterable[Mapping[str, Any]], given: Any, whole: str) -> InvalidInput:
    """The error for the first thing that does not fit.

    A document may be a text or an object, and pydantic then tells what each of them lacks. What is told here is of the
    type that fits best: its error lies deepest in what was given.

    Args:
        errors: what pydantic found, in order.
        given: what it checked.
        whole: what that is called.

    Returns:
        The error.
    """
    placed = ((located(one["loc"], given, lacking=one["type"] == "missing")[0], one) for one in errors)
    start = next(placed)
    first = start[0]
    # Those of one value come together. There may be as many more as there are documents.
    within = [start, *takewhile(lambda each: each[0][: len(first)] == first, placed)]
    place, found = max(within, key=lambda each: len(each[0]))  # of equal ones the first
    alike = [found] if len(place) > len(first) else [one for where, one in within if where == place]
    what = ".".join(map(str, place)) or whole
    told = f"{what} is missing" if found["type"] == "missing" else f"{what} does not fit"
    return InvalidInput(told, expected=" or ".join(dict.fromkeys(map(expected_by, alike))))
