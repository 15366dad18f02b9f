"""The shipped sentence encoder as a LlamaIndex embedding model: vector search offline, on a CPU, out of the box.

>>> from llama_index.embeddings.rag_intrinsics import IntrinsicsEmbedding
>>> len(IntrinsicsEmbedding().get_text_embedding("Ada Brink built the tide mill."))
384
"""

from llama_index.embeddings.rag_intrinsics.embedding import IntrinsicsEmbedding

__all__ = ["IntrinsicsEmbedding"]
