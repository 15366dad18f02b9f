"""A retriever that asks better questions."""

from llama_index.retrievers.rag_intrinsics.retriever import IntrinsicsRetriever

__all__ = ["IntrinsicsRetriever"]
