"""What the RAG intrinsics components for Haystack share: your own chat generator as a runtime."""

from haystack_integrations.common.rag_intrinsics.chat_generator import ChatGeneratorRuntime

__all__ = ["ChatGeneratorRuntime"]
