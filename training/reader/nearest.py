"""The sentences that a claim rests on, by meaning: the shipped encoder's cosine beside the share of words.

Words alone pick the wrong sentences for a claim in somebody's own words; a label beside wrong evidence is wrong.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from intrinsics_core.embedded.models.bi_encoder import BiEncoder
from training.reader.prose import content, found, weight

SHORTLIST = 12
"""Sentences that are encoded of a long source: those with most of the claim's words."""


@cache
def encoder() -> BiEncoder:
    return BiEncoder(threads=1, cache_size=256 << 20)


_rankings: dict[str, list[int]] = {}  # by a digest of claim and sources: the rows are few, the encoder is slow


def _ranked(claim: str, sources: Sequence[str]) -> list[int]:
    key = hashlib.sha256("\n".join((claim, *sources)).encode("utf-8", "surrogatepass")).hexdigest()[:24]
    if key not in _rankings:
        _rankings[key] = _rank(claim, sources)
    return _rankings[key]


def keep_rankings(file: Path) -> int:
    """Write what was ranked so far, so that another machine need not rank it again. Returns how much it is."""
    with gzip.open(file, "wt", encoding="utf-8") as out:
        json.dump(_rankings, out, separators=(",", ":"))
    return len(_rankings)


def take_rankings(file: Path) -> None:
    """Read what `keep_rankings` wrote."""
    with gzip.open(file, "rt", encoding="utf-8") as kept:
        _rankings.update(json.load(kept))


def _rank(claim: str, sources: Sequence[str]) -> list[int]:
    wanted = content(claim)
    total = weight(wanted) or 1.0
    share = [weight(wanted & content(s)) / total for s in sources]
    some = sorted(range(len(sources)), key=lambda i: (-share[i], i))[:SHORTLIST]
    (query,), *others = encoder().encode([claim, *(sources[i] for i in some)])
    close = [max(float(query @ vector) for vector in vectors) for vectors in others]
    score = {i: cosine + 0.3 * share[i] for i, cosine in zip(some, close, strict=True)}
    return sorted(some, key=lambda i: (-score[i], i))


def nearest(claim: str, sources: Sequence[str], count: int = 2) -> list[int]:
    """The ``count`` sentences nearest to a claim, in the order of the source; the best one by words is among them."""
    best = found(claim, sources, 1)
    ranked = [i for i in _ranked(claim, sources) if i not in best]
    return sorted([*best, *ranked[: count - 1]])
