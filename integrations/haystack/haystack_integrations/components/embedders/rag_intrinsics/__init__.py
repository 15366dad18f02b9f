"""Embedders: the encoder that ships, for any document store."""

from haystack_integrations.components.embedders.rag_intrinsics.document_embedder import RagIntrinsicsDocumentEmbedder
from haystack_integrations.components.embedders.rag_intrinsics.text_embedder import RagIntrinsicsTextEmbedder

__all__ = ["RagIntrinsicsDocumentEmbedder", "RagIntrinsicsTextEmbedder"]
