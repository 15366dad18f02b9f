"""What all RAG intrinsics for LlamaIndex share: queries that carry a conversation, and your own LLM as the judge.

The components are where LlamaIndex keeps its own: in ``rag_intrinsics`` of `llama_index.postprocessor`,
`query_transform`, `retrievers`, `response_synthesizers`, `evaluation` and `embeddings`.
"""

from llama_index.rag_intrinsics.llm import LLMRuntime
from llama_index.rag_intrinsics.query import ConversationQuery

__version__ = "0.1.0"

__all__ = ["ConversationQuery", "LLMRuntime"]
