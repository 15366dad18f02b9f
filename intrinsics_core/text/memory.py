"""What a function made of the texts used last: a memory that is bounded in bytes."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any, TypeVar

T = TypeVar("T")


def remembered(
    count: int, longest: int = 20_000, kept_as: Callable[[Any], Any] | None = None
) -> Callable[[Callable[[str], T]], Callable[[str], T]]:
    """Remember what a function makes of the ``count`` texts that were used last.

    What it makes of a text of more than ``longest`` characters is not kept, so the memory is bounded in bytes, too.
    ``kept_as``: what an iterator is kept as, such as ``tuple``; that of a long text stays an iterator.
    """

    def decorated(function: Callable[[str], T]) -> Callable[[str], T]:
        known: Any = lru_cache(maxsize=count)(function if kept_as is None else lambda text: kept_as(function(text)))

        @wraps(function)
        def recalled(text: str) -> T:
            found: T = known(text) if len(text) <= longest else function(text)
            return found

        recalled.cache_clear = known.cache_clear  # type: ignore[attr-defined]
        return recalled

    return decorated
