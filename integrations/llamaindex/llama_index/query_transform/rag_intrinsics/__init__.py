"""Query transforms: make the question stand alone, and say it in several ways.

>>> from llama_index.query_transform.rag_intrinsics import QueryRewriteTransform
>>> QueryRewriteTransform().run("Who built the tide mill at Port Ellery?").query_str
'Who built the tide mill at Port Ellery?'
"""

from llama_index.query_transform.rag_intrinsics.expansion import QueryExpansionTransform
from llama_index.query_transform.rag_intrinsics.rewrite import QueryRewriteTransform

__all__ = ["QueryExpansionTransform", "QueryRewriteTransform"]
