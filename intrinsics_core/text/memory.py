"""What bounds the room that texts take: a memory of those used last, and a long text in parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache, wraps
from typing import Any, TypeVar

T = TypeVar("T")
_SHORT, _MORE = 1_000, 10  # characters of a short text; so many times as many of them are remembered
_REACH = 1_000  # characters in which a space is looked for


def remembered(count: int, longest: int = 20_000) -> Callable[[Callable[[str], T]], Callable[[str], T]]:
    """Remember what a function makes of the ``count`` texts that were used last, of at most ``longest`` characters.

    Of short ones, such as the turns of a conversation, many more are remembered.
    """

    def decorated(function: Callable[[str], T]) -> Callable[[str], T]:
        known: list[Any] = [lru_cache(maxsize=many * count)(function) for many in (1, _MORE)]

        @wraps(function)
        def recalled(text: str) -> T:
            found: T = known[len(text) <= _SHORT](text) if len(text) <= longest else function(text)
            return found

        recalled.cache_clear = lambda: [each.cache_clear() for each in known]  # type: ignore[attr-defined]
        return recalled

    return decorated


def parts(text: str, size: int) -> Iterator[str]:
    """A text in parts of at most ``size`` characters, which together are the text, cut at spaces where there are any.

    >>> list(parts("one two three", 8))
    ['one two', ' three']
    """
    begin = 0
    while len(text) - begin > size:
        end = begin + size
        least = max(begin, end - _REACH)
        space = max(text.rfind(" ", least, end), text.rfind("\n", least, end))
        end = space if space > begin else end
        yield text[begin:end]
        begin = end
    yield text[begin:] if begin else text
