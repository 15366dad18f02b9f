"""Evaluators: whole runs of rows at once."""

from haystack_integrations.components.evaluators.rag_intrinsics.evaluator import RagIntrinsicsEvaluator

__all__ = ["RagIntrinsicsEvaluator"]
