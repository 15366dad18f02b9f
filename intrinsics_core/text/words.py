"""Sets of words, written as one text."""

from __future__ import annotations


def word_set(text: str) -> frozenset[str]:
    """A set of words written as one text, separated by spaces."""
    return frozenset(text.split())
