"""What may stand among a retriever's compressors, and how each kind is asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from langchain_core.callbacks import Callbacks
from langchain_core.documents import BaseDocumentCompressor, BaseDocumentTransformer, Document
from langchain_core.runnables.base import coerce_to_runnable
from pydantic import BeforeValidator


def _several(value: Any) -> Any:
    """One compressor or several, functions made Runnables."""
    each = [] if value is None else value if isinstance(value, list | tuple) else [value]
    return tuple(v if isinstance(v, BaseDocumentCompressor | BaseDocumentTransformer) else coerce_to_runnable(v)
                 for v in each)  # fmt: skip


Compressors = Annotated[tuple[Any, ...], BeforeValidator(_several)]


def compress(compressor: Any, documents: Sequence[Document], query: str, callbacks: Callbacks) -> Sequence[Document]:
    """Documents after one compressor, transformer, or Runnable over ``{"query", "documents"}``."""
    if isinstance(compressor, BaseDocumentCompressor):
        return compressor.compress_documents(documents, query, callbacks)
    if isinstance(compressor, BaseDocumentTransformer):
        return compressor.transform_documents(documents)
    found: Sequence[Document] = compressor.invoke({"query": query, "documents": documents}, {"callbacks": callbacks})
    return found


async def acompress(
    compressor: Any, documents: Sequence[Document], query: str, callbacks: Callbacks
) -> Sequence[Document]:
    """Like :func:`compress`, without blocking the event loop where the compressor does not."""
    if isinstance(compressor, BaseDocumentCompressor):
        return await compressor.acompress_documents(documents, query, callbacks)
    if isinstance(compressor, BaseDocumentTransformer):
        return await compressor.atransform_documents(documents)
    found: Sequence[Document] = await compressor.ainvoke(
        {"query": query, "documents": documents}, {"callbacks": callbacks}
    )
    return found
