"""One line around any query engine."""

from __future__ import annotations

from typing import Any

from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.response.schema import RESPONSE_TYPE
from llama_index.core.schema import NodeWithScore, QueryBundle
from llama_index.rag_intrinsics._prompts import InnerPrompts
from llama_index.response_synthesizers.rag_intrinsics import ResponseAnnotator

from intrinsics_core import InvalidInput


class AuditedQueryEngine(InnerPrompts, BaseQueryEngine):
    """Any query engine, whose responses now come with everything about them.

    ``response.metadata["rag_intrinsics"]["audit"]`` holds whether the nodes answer the question, a verdict and
    citations for each sentence, a certainty, whether the question is addressed, and what of these does not go together.
    Streams stream on; their audit is there when they have ended. An auditor that fails never costs the answer. Prompts
    are the inner engine's, under its names.

    Args:
        query_engine: the engine that answers.
        stream_verdicts: whether each sentence of a stream is judged as it closes; see
            :class:`~llama_index.response_synthesizers.rag_intrinsics.ResponseAnnotator`.
        settings: further ones of the annotator: ``runtime``, ``api_key``, ``profile``, ``on_error``, ``metadata_mode``,
            ``date``, ``hold``.

    Example:
        >>> from llama_index.core import VectorStoreIndex
        >>> from llama_index.core.llms import MockLLM
        >>> from llama_index.core.schema import TextNode
        >>> from llama_index.embeddings.rag_intrinsics import IntrinsicsEmbedding
        >>> from llama_index.query_engine.rag_intrinsics import AuditedQueryEngine
        >>> index = VectorStoreIndex([TextNode(text="Ada Brink built it in 1911.")], embed_model=IntrinsicsEmbedding())
        >>> engine = AuditedQueryEngine(index.as_query_engine(llm=MockLLM()))
        >>> sorted(engine.query("Who built it?").metadata["rag_intrinsics"])
        ['audit']
    """

    def __init__(self, query_engine: BaseQueryEngine, *, stream_verdicts: bool = False, **settings: Any) -> None:
        if not isinstance(query_engine, BaseQueryEngine):
            raise InvalidInput("query_engine is not a query engine", expected="e.g. index.as_query_engine()",
                               got=type(query_engine).__name__)  # fmt: skip
        super().__init__(callback_manager=query_engine.callback_manager)
        self._inner: BaseQueryEngine = query_engine
        self._annotator = ResponseAnnotator(audit=True, stream_verdicts=stream_verdicts, **settings)

    def _query(self, query_bundle: QueryBundle) -> RESPONSE_TYPE:
        return self._annotator.annotate(query_bundle, self._inner.query(query_bundle))

    async def _aquery(self, query_bundle: QueryBundle) -> RESPONSE_TYPE:
        return await self._annotator.aannotate(query_bundle, await self._inner.aquery(query_bundle))

    def retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return list(self._inner.retrieve(query_bundle))
