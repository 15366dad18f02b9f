"""Rankers: documents in the order in which they answer the query, and only those that help."""

from haystack_integrations.components.rankers.rag_intrinsics.context_relevance_filter import (
    RagIntrinsicsContextRelevanceFilter,
)
from haystack_integrations.components.rankers.rag_intrinsics.ranker import RagIntrinsicsRanker

__all__ = ["RagIntrinsicsContextRelevanceFilter", "RagIntrinsicsRanker"]
