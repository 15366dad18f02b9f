"""Evaluators: how certain an answer is, and how true by its sources."""

from haystack_integrations.components.evaluators.rag_intrinsics.fact_checker import RagIntrinsicsFactChecker
from haystack_integrations.components.evaluators.rag_intrinsics.uncertainty_scorer import RagIntrinsicsUncertaintyScorer

__all__ = ["RagIntrinsicsFactChecker", "RagIntrinsicsUncertaintyScorer"]
