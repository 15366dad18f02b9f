"""Node postprocessors: rerank what was retrieved, and keep what helps.

>>> from llama_index.postprocessor.rag_intrinsics import IntrinsicsRerank
>>> IntrinsicsRerank(top_n=3).class_name()
'IntrinsicsRerank'
"""

from llama_index.postprocessor.rag_intrinsics.relevance import ContextRelevancePostprocessor
from llama_index.postprocessor.rag_intrinsics.rerank import IntrinsicsRerank

__all__ = ["ContextRelevancePostprocessor", "IntrinsicsRerank"]
