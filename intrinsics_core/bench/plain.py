"""The plainest methods, which anything shipped must beat: word coverage, the nearest sentence."""

from __future__ import annotations

from collections.abc import Sequence

from intrinsics_core.embedded.words import terms
from intrinsics_core.text.sentences import Span, punkt


def coverage(text: str, sources: Sequence[str]) -> float:
    """Share of the text's words (stems, no stopwords) that any source has; 1 for a text without words."""
    wanted = set(terms(text))
    return len(wanted & {term for source in sources for term in terms(source)}) / len(wanted) if wanted else 1.0


def best_coverage(text: str, sources: Sequence[str]) -> float:
    """The same, by the one source that has most of them; 0 without sources."""
    return max((coverage(text, [source]) for source in sources), default=0.0)


def nearest_sentence(text: str, sources: Sequence[str]) -> tuple[int, Span] | None:
    """(source, sentence) that has most of the text's words, the first among equals; None where no word is shared."""
    found = [(coverage(text, [span.text]), -i, -span.begin, i, span) for i, source in enumerate(sources)
             for span in punkt(source)]  # fmt: skip
    best = max(found, key=lambda item: item[:3], default=None)
    return (best[3], best[4]) if best and best[0] > 0 else None
