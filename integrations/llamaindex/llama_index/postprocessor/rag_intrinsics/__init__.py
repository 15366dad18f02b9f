"""Node postprocessors: rerank what was retrieved, and keep what helps."""

from llama_index.postprocessor.rag_intrinsics.postprocessors import ContextRelevancePostprocessor, IntrinsicsRerank

__all__ = ["ContextRelevancePostprocessor", "IntrinsicsRerank"]
