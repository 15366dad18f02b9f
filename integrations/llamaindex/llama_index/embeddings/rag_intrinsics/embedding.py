"""The embedding model."""

from __future__ import annotations

import asyncio
from typing import Any

from llama_index.core.base.embeddings.base import BaseEmbedding, Embedding
from llama_index.rag_intrinsics._component import RuntimeHolder, check_names
from pydantic import ConfigDict, Field

from intrinsics_core import InvalidInput, Runtime, as_runtime
from intrinsics_core.embedded.runtime import EmbeddedRuntime

NAME = "rag-intrinsics/all-MiniLM-L6-v2"


class IntrinsicsEmbedding(RuntimeHolder, BaseEmbedding):
    """The sentence encoder of the embedded runtime, for any vector store: no key, no GPU, no network, no torch.

    All components of a process share one model with it. Vectors have length 1; a long text is the mean of its windows.

    Args:
        runtime: None or ``"embedded"`` for the encoder that ships; a config such as ``{"kind": "embedded", "path":
            FOLDER}`` for another one; or an embedded runtime, to share it.
        model_name: what the vectors are labelled with: the name of what is loaded, and nothing else.
        embed_batch_size: texts per call.

    Raises:
        InvalidInput: the runtime does not embed, ``model_name`` is not what it loads, or there is no such setting.

    Example:
        >>> from llama_index.core import VectorStoreIndex
        >>> from llama_index.core.schema import TextNode
        >>> from llama_index.embeddings.rag_intrinsics import IntrinsicsEmbedding
        >>> nodes = [TextNode(text="There are two cranes."), TextNode(id_="mill", text="Ada Brink built the mill.")]
        >>> index = VectorStoreIndex(nodes, embed_model=IntrinsicsEmbedding())
        >>> index.as_retriever(similarity_top_k=1).retrieve("Who was the engineer of the water mill?")[0].node_id
        'mill'
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid", protected_namespaces=())

    model_name: str = NAME
    embed_batch_size: int = Field(default=64, gt=0, le=2048)

    def __init__(self, runtime: Any = None, **settings: Any) -> None:
        check_names(settings, type(self).model_fields, called=self.class_name())
        super().__init__(runtime=runtime, **settings)
        self.model_name = settings.get("model_name", "")

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "model_name":
            loaded = NAME if self.engine.path is None else str(self.engine.path)
            if value not in ("", loaded, loaded.rpartition("/")[2]):
                raise InvalidInput("model_name is not what is loaded", expected=f"{loaded!r}, or runtime={{'kind': "
                                   "'embedded', 'path': FOLDER}} for another one", got=repr(value))  # fmt: skip
            value = loaded
        elif name == "runtime":
            _embedding(as_runtime(value))
        super().__setattr__(name, value)
        if name == "runtime":
            self.model_name = ""

    @property
    def engine(self) -> EmbeddedRuntime:
        """The runtime that embeds; another one, where ``runtime`` was changed."""
        return _embedding(super().engine)

    def _get_query_embedding(self, query: str) -> Embedding:
        return self.engine.embed([query], kind="query")[0]

    def _get_text_embedding(self, text: str) -> Embedding:
        return self._get_text_embeddings([text])[0]

    def _get_text_embeddings(self, texts: list[str]) -> list[Embedding]:
        return self.engine.embed(texts, kind="passage")

    # The encoder computes: the event loop is left to others meanwhile.

    async def _aget_query_embedding(self, query: str) -> Embedding:
        return await asyncio.to_thread(self._get_query_embedding, query)

    async def _aget_text_embedding(self, text: str) -> Embedding:
        return await asyncio.to_thread(self._get_text_embedding, text)

    async def _aget_text_embeddings(self, texts: list[str]) -> list[Embedding]:
        return await asyncio.to_thread(self._get_text_embeddings, texts)


def _embedding(engine: Runtime) -> EmbeddedRuntime:
    """Raises InvalidInput where the runtime does not embed."""
    if not isinstance(engine, EmbeddedRuntime):
        raise InvalidInput("runtime: it does not embed", expected="None, 'embedded', {'kind': 'embedded', ...} or "
                           "an EmbeddedRuntime", got=type(engine).__name__)  # fmt: skip
    return engine
