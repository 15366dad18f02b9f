"""The shipped sentence encoder as a LlamaIndex embedding model: vector search offline, on a CPU, out of the box."""

from llama_index.embeddings.rag_intrinsics.embedding import IntrinsicsEmbedding

__all__ = ["IntrinsicsEmbedding"]
