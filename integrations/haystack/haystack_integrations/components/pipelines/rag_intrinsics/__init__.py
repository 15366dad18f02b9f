"""Whole pipelines, ready to run, and parts of others as one component."""

from haystack_integrations.components.pipelines.rag_intrinsics.rag_pipeline import RagIntrinsicsPipeline

__all__ = ["RagIntrinsicsPipeline"]
