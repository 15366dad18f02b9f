"""The shipped encoder as an embedding model."""

from __future__ import annotations

import asyncio
from typing import Any

from langchain_core.embeddings import Embeddings
from pydantic import BaseModel, ConfigDict, PrivateAttr

from intrinsics_core import InvalidInput
from intrinsics_core.embedded.runtime import EmbeddedRuntime
from intrinsics_core.running import given_up
from langchain_rag_intrinsics import _runtime


class IntrinsicsEmbeddings(BaseModel, Embeddings):
    """Vector search offline: the small encoder that ships, on the CPU, for any vector store. Vectors have length 1.

    Args:
        runtime: None or ``"embedded"`` for the encoder that ships; ``{"kind": "embedded", "path": ...}`` for one in a
            local folder; or an EmbeddedRuntime.

    Raises:
        InvalidInput: the runtime is no embedded one.

    Example:
        >>> from langchain_core.documents import Document
        >>> from langchain_core.vectorstores import InMemoryVectorStore
        >>> from langchain_rag_intrinsics import IntrinsicsEmbeddings
        >>> store = InMemoryVectorStore(IntrinsicsEmbeddings())
        >>> _ = store.add_documents([Document("Ada Brink built the tide mill.", id="mill"), Document("Fog in May.")])
        >>> store.similarity_search("Who constructed the mill?", k=1)[0].id
        'mill'
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    runtime: Any = None

    _engine: EmbeddedRuntime = PrivateAttr()

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        found = _runtime.engine(self.runtime)
        if not isinstance(found, EmbeddedRuntime):
            raise InvalidInput("runtime gives no vectors", expected='None, "embedded" or {"kind": "embedded", ...}',
                               got=type(found).__name__)  # fmt: skip
        self._engine = found

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """A vector for each text; a long one is the mean of its windows."""
        return self._engine.embed(texts, kind="passage")

    def embed_query(self, text: str) -> list[float]:
        return self._engine.embed([text], kind="query")[0]

    async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
        """Like :meth:`embed_documents`, in a thread, which ends when the caller no longer waits."""
        with given_up():
            return await asyncio.to_thread(self.embed_documents, texts)

    async def aembed_query(self, text: str) -> list[float]:
        with given_up():
            return await asyncio.to_thread(self.embed_query, text)
