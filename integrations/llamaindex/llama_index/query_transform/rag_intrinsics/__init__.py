"""Query transforms: make the question stand alone, and say it in several ways."""

from llama_index.query_transform.rag_intrinsics.transforms import QueryExpansionTransform, QueryRewriteTransform

__all__ = ["QueryExpansionTransform", "QueryRewriteTransform"]
