"""Words that an answer repeats over and over: a small model that runs into a loop goes on until its limit of tokens."""

from __future__ import annotations

_LONGEST = 8  # words of what is repeated, at most
_KEPT = 3  # times that it may stand in a row


def without_loops(text: str) -> str:
    """The text with at most three of the same words, up to eight of them, in a row.

    No model was trained on such texts, and the reader calls "zebra zebra zebra ..." supported by anything.
    """
    words = text.split()
    if len(words) - len(set(words)) < _KEPT:  # too few are said again
        return text
    kept = words
    for length in range(1, min(_LONGEST, len(words) // (_KEPT + 1)) + 1):
        kept = _shortened(kept, length)
    return text if len(kept) == len(words) else " ".join(kept)


def _shortened(words: list[str], length: int) -> list[str]:
    """Without what repeats the ``length`` words before it more than three times."""
    kept, run = list[str](), 0
    for at, word in enumerate(words):
        run = run + 1 if at >= length and word == words[at - length] else 0
        if run <= (_KEPT - 1) * length:
            kept.append(word)
    return kept
