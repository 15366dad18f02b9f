"""Query components: a question that stands alone, and several for one."""

from haystack_integrations.components.query.rag_intrinsics.query_expander import RagIntrinsicsQueryExpander
from haystack_integrations.components.query.rag_intrinsics.query_rewriter import RagIntrinsicsQueryRewriter

__all__ = ["RagIntrinsicsQueryExpander", "RagIntrinsicsQueryRewriter"]
