"""A long text in parts: what is made of a text (tokens, sentences) may take many times its room."""

from __future__ import annotations

from collections.abc import Iterator

_REACH = 1_000  # characters in which a space is looked for


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
