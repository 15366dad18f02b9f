"""What postprocessors write on nodes: flat keys of metadata, which every vector store and template takes.

`retrieval_score` is what the retriever gave, `judged_for` the question that a node was judged for; then, for each
intrinsic, ``context_relevance`` (the label), ``context_relevance_score``, ``reranking_rank``, ``reranking_score``,
``reranking_wins``, and, where they say something, ``…_degraded``, ``…_cut``, ``…_unread`` and ``…_prior``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from llama_index.core.schema import NodeWithScore

from intrinsics_core.chains.notes import copy_containers

RETRIEVAL_SCORE, JUDGED_FOR = "retrieval_score", "judged_for"

_INTRINSICS = ("reranking", "context_relevance")
_FIELDS = ("rank", "score", "wins", "degraded", "cut", "unread", "prior")
_SCORES = tuple(f"{name}_score" for name in _INTRINSICS)
KEYS = (RETRIEVAL_SCORE, JUDGED_FOR, "context_relevance", *(f"{n}_{f}" for n in _INTRINSICS for f in _FIELDS))

_OURS = frozenset(KEYS)


def flat(intrinsic: str, row: Mapping[str, Any]) -> dict[str, Any]:
    """One verdict as keys of metadata. A label has the intrinsic's own name."""
    name = intrinsic.replace("-", "_")
    said = {key: value for key, value in row.items() if value is not None and value is not False}
    return {name if key == "label" else f"{name}_{key}": value for key, value in said.items()}


def retrievers_score(item: NodeWithScore, asked: str) -> float | None:
    """The score that a retriever gave for this question; None where there is none, or it was given for another one.

    Where the node's score is the one that a component of ours wrote, the retriever's is beside it, with the question.
    """
    if not _ours(item):
        return item.score
    metadata = item.node.metadata
    return metadata.get(RETRIEVAL_SCORE) if metadata.get(JUDGED_FOR) == asked else None


def marked(item: NodeWithScore, asked: str, verdict: Mapping[str, Any], score: float | None) -> NodeWithScore:
    """A copy with a verdict on it and this score. Our keys are kept out of what LLMs and embeddings read."""
    node, metadata = item.node, copy_containers(item.node.metadata)
    if _ours(item):
        if metadata.get(JUDGED_FOR) != asked:
            metadata.pop(RETRIEVAL_SCORE, None)
    elif item.score is not None and (RETRIEVAL_SCORE not in metadata or JUDGED_FOR in metadata):
        metadata[RETRIEVAL_SCORE] = item.score
    metadata |= verdict
    metadata[JUDGED_FOR] = asked
    ours = [key for key in metadata if key in _OURS]
    copy = node.model_copy(
        update={
            "metadata": metadata,
            "excluded_llm_metadata_keys": _with(ours, node.excluded_llm_metadata_keys),
            "excluded_embed_metadata_keys": _with(ours, node.excluded_embed_metadata_keys),
        }
    )
    return item.model_copy(update={"node": copy, "score": score})


def _ours(item: NodeWithScore) -> bool:
    metadata = item.node.metadata
    return JUDGED_FOR in metadata and item.score is not None and item.score in [metadata.get(key) for key in _SCORES]


def _with(ours: Sequence[str], keys: Sequence[str]) -> list[str]:
    return [*keys, *(key for key in ours if key not in keys)] if keys else list(ours)
