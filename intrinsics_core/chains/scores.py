"""Scores and verdicts on documents, as flat keys of their metadata, which every vector store and template takes.

``retrieval_score`` is what the retriever gave, ``judged_for`` the question that a document was judged for. Then, for
each intrinsic: ``context_relevance`` (the label), ``context_relevance_score``, ``reranking_rank``, ``reranking_score``,
``reranking_wins``, and, where they say something, ``…_degraded``, ``…_cut``, ``…_unread``, ``…_prior`` and
``…_warning``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from numbers import Real
from typing import Any

from intrinsics_core.chains.notes import copy_containers, underscored
from intrinsics_core.protocol.results import RankedDocument, Ranking

RETRIEVED, JUDGED_FOR = "retrieval_score", "judged_for"
_INTRINSICS = ("reranking", "context_relevance")
_FIELDS = ("rank", "score", "wins", "degraded", "cut", "unread", "prior", "warning")
_SCORES = tuple(f"{name}_score" for name in _INTRINSICS)
KEYS = (RETRIEVED, JUDGED_FOR, "context_relevance", *(f"{name}_{field}" for name in _INTRINSICS for field in _FIELDS))
"""All keys that are written, so that adapters can keep them from what a model reads."""
_KEYS = frozenset(KEYS)


def finite(value: Any) -> float | None:
    """A score as a number; None of what is none. Stores give NumPy's, and not-a-number for an empty vector."""
    if type(value) is float:  # most are, and whether something is a `Real` takes long to find out
        return value if isfinite(value) else None
    if value is None or isinstance(value, bool) or not isinstance(value, Real):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if isfinite(number) else None


def retrievers_score(score: Any, metadata: Mapping[str, Any], asked: str | None = None) -> float | None:
    """The score that a retriever gave for this question; None where it gave none, or gave it for another one.

    Args:
        score: what stands where the framework keeps a document's score. Where one of our components wrote it, the
            retriever's is in the metadata.
        metadata: of the document.
        asked: the question; None: whatever it was.
    """
    number = finite(score)
    if number is None or number not in [finite(metadata[key]) for key in _SCORES if key in metadata]:
        return number
    return finite(metadata.get(RETRIEVED)) if asked is None or metadata.get(JUDGED_FOR) == asked else None


def marked(metadata: Mapping[str, Any], verdict: Mapping[str, Any], score: Any, asked: str) -> dict[str, Any]:
    """A copy of the metadata with a verdict in it, in place of an earlier one by the same intrinsic.

    Args:
        metadata: of the document.
        verdict: its keys (`verdict_on`).
        score: what stands where the framework keeps a document's score, before the verdict.
        asked: the question that it was judged for.
    """
    kept = {key: copy_containers(value) for key, value in metadata.items()}
    retrieved = retrievers_score(score, metadata, asked)
    stale = [key for key in kept if key in _KEYS]
    if stale:
        judging = tuple(name for name in _INTRINSICS if any(key.startswith(name) for key in verdict))
        stale = [key for key in stale if key.startswith(judging)]
    if JUDGED_FOR in kept:  # else it is a key of the user's
        stale.append(RETRIEVED)
    for key in stale:
        kept.pop(key, None)
    known = {} if retrieved is None else {RETRIEVED: retrieved}
    return {**kept, **known, **verdict, JUDGED_FOR: asked}


def verdict_on(intrinsic: str, row: Any, result: Any, **more: Any) -> dict[str, Any]:
    """The keys for one row of a ranking or of judgements, with what the result says of all of them.

    What says nothing is left out. A label has the intrinsic's own name.

    Args:
        intrinsic: ``"reranking"`` or ``"context-relevance"``.
        row: a `RankedDocument` or a `Judgement`.
        result: what it is a row of.
        more: further fields, such as ``warning``.
    """
    said, of_all = vars(row), vars(result)
    found = {name: said[name] for name in ("label", "rank", "score", "wins") if name in said}
    # Why others failed is no matter of this document's, where each was judged by itself.
    found["degraded"] = said["failure"] if "failure" in said else of_all.get("degraded")
    found |= {name: of_all.get(name) or None for name in ("cut", "unread", "prior")}
    name, found = underscored(intrinsic), found | more
    return {name if key == "label" else f"{name}_{key}": value for key, value in found.items()
            if value is not None and value is not False}  # fmt: skip


def at_least(result: Ranking, least: float | None) -> tuple[Sequence[RankedDocument], str | None]:
    """The rows of a ranking that score at least this, where scores are probabilities; else all, and a warning why.

    Args:
        least: the least score; None for all.
    """
    if least is None or not result.ranking or (result.mode == "pointwise" and result.degraded is None):
        return [row for row in result.ranking if least is None or (row.score is not None and row.score >= least)], None
    why = result.degraded or "these scores are places in one list, no probabilities"
    return result.ranking, f"score_threshold was not applied: {why}"


def own_score(row: Any, result: Any, score: Any) -> Any:
    """The score that a judged document has: its verdict's, or, of a fallback, the one that it came with.

    Args:
        row, result: as in `verdict_on`.
        score: the one that it came with.
    """
    said = vars(row)
    fallen = "failure" not in said and vars(result).get("mode") is None
    return score if row.score is None or fallen else row.score
