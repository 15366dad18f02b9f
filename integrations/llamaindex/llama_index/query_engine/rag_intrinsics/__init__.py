"""A query engine whose responses say how far to trust them.

>>> from llama_index.query_engine.rag_intrinsics import AuditedQueryEngine
>>> AuditedQueryEngine.__name__
'AuditedQueryEngine'
"""

from llama_index.query_engine.rag_intrinsics.audited import AuditedQueryEngine

__all__ = ["AuditedQueryEngine"]
