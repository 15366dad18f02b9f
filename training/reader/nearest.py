"""The sentences that a claim rests on, by meaning: the shipped encoder's cosine beside the share of words.

Words alone pick the wrong sentences for a claim in somebody's own words; a label beside wrong evidence is wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache

from intrinsics_core.embedded.models.bi_encoder import BiEncoder
from training.reader.prose import content, found, weight

SHORTLIST = 12
"""Sentences that are encoded of a long source: those with most of the claim's words."""


@cache
def encoder() -> BiEncoder:
    return BiEncoder(threads=1, cache_size=256 << 20)


@lru_cache(maxsize=1 << 14)
def _ranked(claim: str, sources: tuple[str, ...]) -> tuple[int, ...]:
    wanted = content(claim)
    total = weight(wanted) or 1.0
    share = [weight(wanted & content(s)) / total for s in sources]
    some = sorted(range(len(sources)), key=lambda i: (-share[i], i))[:SHORTLIST]
    (query,), *others = encoder().encode([claim, *(sources[i] for i in some)])
    close = [max(float(query @ vector) for vector in vectors) for vectors in others]
    return tuple(i for _, i in sorted(zip((-c - 0.3 * share[i] for c, i in zip(close, some, strict=True)), some,
                                          strict=True)))  # fmt: skip


def nearest(claim: str, sources: Sequence[str], count: int = 2) -> list[int]:
    """The ``count`` sentences nearest to a claim, in the order of the source; the best one by words is among them."""
    best = found(claim, sources, 1)
    ranked = [i for i in _ranked(claim, tuple(sources)) if i not in best]
    return sorted([*best, *ranked[: count - 1]])
