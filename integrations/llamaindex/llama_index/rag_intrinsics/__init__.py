"""What all RAG intrinsics for LlamaIndex share: queries that carry a conversation, and your own LLM as the judge.

The components are where LlamaIndex keeps its own: :mod:`llama_index.postprocessor.rag_intrinsics`,
:mod:`llama_index.query_transform.rag_intrinsics`, :mod:`llama_index.retrievers.rag_intrinsics`,
:mod:`llama_index.response_synthesizers.rag_intrinsics`, :mod:`llama_index.evaluation.rag_intrinsics`. Every one takes
``runtime=``: a core runtime, a config such as ``{"kind": "server", "base_url": ...}``, or a LlamaIndex ``LLM``; left
out, the embedded encoder (offline, CPU).
"""

from llama_index.rag_intrinsics.llm import LLMRuntime
from llama_index.rag_intrinsics.query import ConversationQuery

__version__ = "0.1.0"

__all__ = ["ConversationQuery", "LLMRuntime"]
