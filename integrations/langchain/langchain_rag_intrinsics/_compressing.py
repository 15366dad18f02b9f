"""What may stand among a retriever's compressors, and how each kind is asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from langchain_core.documents import BaseDocumentCompressor, BaseDocumentTransformer, Document
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import set_config_context
from langchain_core.runnables.utils import coro_with_context
from pydantic import BeforeValidator

from langchain_rag_intrinsics._wrapped import as_runnable


def _several(value: Any) -> Any:
    """One compressor or several, functions made Runnables."""
    each = [] if value is None else value if isinstance(value, list | tuple) else [value]
    return tuple(v if isinstance(v, BaseDocumentCompressor | BaseDocumentTransformer) else as_runnable(v)
                 for v in each)  # fmt: skip


# To a type checker they are what a user may write: one or a list of them; here they are always a tuple.
Compressors = Annotated[Any, BeforeValidator(_several)]


def compress(compressor: Any, documents: Sequence[Document], query: str, config: RunnableConfig) -> Sequence[Document]:
    """Documents after one compressor, transformer, or Runnable over ``{"query", "documents"}``."""
    if isinstance(compressor, BaseDocumentCompressor):
        with set_config_context(config) as context:  # a compressor is handed callbacks alone
            return context.run(compressor.compress_documents, documents, query, config.get("callbacks"))
    if isinstance(compressor, BaseDocumentTransformer):
        return compressor.transform_documents(documents)
    found: Sequence[Document] = compressor.invoke({"query": query, "documents": documents}, config)
    return found


async def acompress(
    compressor: Any, documents: Sequence[Document], query: str, config: RunnableConfig
) -> Sequence[Document]:
    """Like :func:`compress`, without blocking the event loop where the compressor does not."""
    if isinstance(compressor, BaseDocumentCompressor):
        with set_config_context(config) as context:
            asked = compressor.acompress_documents(documents, query, config.get("callbacks"))
            return await coro_with_context(asked, context)
    if isinstance(compressor, BaseDocumentTransformer):
        return await compressor.atransform_documents(documents)
    found: Sequence[Document] = await compressor.ainvoke({"query": query, "documents": documents}, config)
    return found
