"""Plain text from the data sets: tokenised spelling undone, sentences, windows, and the sentences a claim rests on."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from functools import lru_cache

from intrinsics_core.embedded.words import idf, terms
from training.support_data import split

_SPELLING: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), by)
    for pattern, by in (
        (r"``|''", '"'),
        (r"-LRB-", "("),
        (r"-RRB-", ")"),
        (r"-LSB-.*?-RSB-", ""),
        (r"\s+([,.;:!?%)\]}])", r"\1"),
        (r"([(\[{$£€#])\s+", r"\1"),
        (r"\s+('s|'re|'ve|'ll|'d|'m|n't)\b", r"\1"),
        (r"s ' (?=[a-z])", "s' "),
        (r'" ([^"]*?) "', r'"\1"'),
        (r"(?<=\w) - (?=\w)", "-"),
        (r"(?<=\w) / (?=\w)", "/"),
        (r"(?<=\d): (?=\d)", ":"),
        (r" -- ?", " – "),
        (r"\(\s*[,;]?\s*\)", ""),
        (r"[ \t]+", " "),
    )
)


def untokenised(text: str) -> str:
    """`He did n't , he said .` as people write it."""
    for pattern, by in _SPELLING:
        text = pattern.sub(by, text)
    return text.strip()


def sentences(text: str) -> list[str]:
    """Sentences of one text, as the product splits them; line ends split too."""
    return [s.strip() for line in text.splitlines() for s in split(line) if s.strip()]


@lru_cache(maxsize=1 << 17)
def content(text: str) -> frozenset[str]:
    """The distinct content terms of a text."""
    return frozenset(terms(text))


def weight(words: frozenset[str]) -> float:
    """Sum of background idf: the same whatever order a set has its words in, so ties stay ties in every process."""
    return math.fsum(map(idf, words))


def found(claim: str, sources: Sequence[str], count: int = 2, enough: float = 0.05) -> list[int]:
    """The few sentences that together hold most of a claim's words (idf-weighed), in the order of the source.

    The first is the one that covers most; each further one must add at least ``enough`` of the claim's weight.
    """
    wanted, chosen = content(claim), list[int]()
    total = weight(wanted) or 1.0
    left = wanted
    for _ in range(min(count, len(sources))):
        gains = [weight(left & content(s)) - 1e-6 * len(s) for s in sources]
        best = max(range(len(sources)), key=lambda i: -1.0 if i in chosen else gains[i])
        if chosen and gains[best] < enough * total:
            break
        chosen.append(best)
        left = left - content(sources[best])
    return sorted(chosen)


def windows(parts: Sequence[str], limit: int = 90, overlap: int = 1) -> list[tuple[int, int]]:
    """Runs of sentences of at most ``limit`` words (one longer sentence alone), neighbours sharing ``overlap``."""
    sizes, runs, begin = [len(s.split()) for s in parts], list[tuple[int, int]](), 0
    while begin < len(parts):
        end, size = begin + 1, sizes[begin]
        while end < len(parts) and size + sizes[end] <= limit:
            size += sizes[end]
            end += 1
        runs.append((begin, end))
        if end == len(parts):
            break
        begin = max(begin + 1, end - overlap)
    return runs


def sentence_like(text: str) -> bool:
    """Whether this is a whole sentence worth editing: a capital, a stop, and 6 to 45 words."""
    return 6 <= len(text.split()) <= 45 and text[:1].isupper() and text.rstrip('"').endswith((".", "!"))
