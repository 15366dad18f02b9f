"""Query transforms: where the conversation comes from, and what becomes of the question."""

from __future__ import annotations

import logging
from typing import Any, ClassVar

from llama_index.core.indices.query.query_transform.base import BaseQueryTransform
from llama_index.core.instrumentation import get_dispatcher  # type: ignore[attr-defined]
from llama_index.core.memory import BaseMemory
from llama_index.core.schema import QueryBundle, QueryType
from llama_index.rag_intrinsics._component import IntrinsicComponent
from llama_index.rag_intrinsics._inputs import History, aremembered, conversation, distinct, passages, remembered
from llama_index.rag_intrinsics.query import TransformedQuery, says_it
from pydantic import Field

from intrinsics_core import Call
from intrinsics_core.protocol.query_form import embedding_query
from intrinsics_core.protocol.results import QueryExpansion, QueryRewrite, Result

dispatcher = get_dispatcher(__name__)


class _ConversationTransform(IntrinsicComponent, BaseQueryTransform):
    """The turns before the question come from the query itself (a
    :class:`~llama_index.rag_intrinsics.ConversationQuery`), from ``metadata["chat_history"]``, or from ``memory``.
    ``metadata["nodes"]`` may hold first results of a retriever.
    """

    memory: BaseMemory | None = Field(default=None, exclude=True, repr=False)

    # Not abstract: LlamaIndex makes a span of every method that implements an abstract one.

    def _tell(self, query: QueryBundle, result: Any) -> QueryBundle:
        """The query that comes of it."""
        raise NotImplementedError

    def _run(self, query_bundle: QueryBundle, metadata: dict[str, Any]) -> QueryBundle:
        history = metadata.get("chat_history") or remembered(query_bundle, self.memory)
        return self._transformed(query_bundle, self._result(self._call(query_bundle, history, metadata)))

    async def arun(self, query_bundle_or_str: QueryType, metadata: dict[str, Any] | None = None) -> QueryBundle:
        """Like ``run``, without ever blocking the event loop."""
        given = query_bundle_or_str
        return await self._arun(QueryBundle(given) if isinstance(given, str) else given, metadata or {})

    @dispatcher.span
    async def _arun(self, query_bundle: QueryBundle, metadata: dict[str, Any]) -> QueryBundle:
        history = metadata.get("chat_history") or await aremembered(query_bundle, self.memory)
        return self._transformed(query_bundle, await self._aresult(self._call(query_bundle, history, metadata)))

    def _call(self, query: QueryBundle, history: History, metadata: dict[str, Any]) -> Call[Any]:
        return self._ask(conversation(query, history=history), passages(distinct(metadata.get("nodes") or ())))

    def _transformed(self, query: QueryBundle, result: Result) -> QueryBundle:
        if result.degraded:
            logging.getLogger(__name__).warning("%s fell back: %s", self.intrinsic, result.degraded)
        return self._tell(query, result)


class QueryRewriteTransform(_ConversationTransform):
    """The last question of a conversation, so that it stands alone.

    Returns a query bundle whose ``rewrite`` says whether it changed. Where the runtime gives a form made for retrieval,
    that is what is embedded; the plain question is what all others see. Further texts to embed that the query brings,
    such as the passage of ``HyDEQueryTransform``, stay.

    Args:
        memory: the memory of a chat engine, to read the conversation from.

    Example:
        >>> from llama_index.core.llms import ChatMessage
        >>> from llama_index.query_transform.rag_intrinsics import QueryRewriteTransform
        >>> from llama_index.rag_intrinsics import ConversationQuery
        >>> turns = [ChatMessage("Is there a tide mill on Ellery?"), ChatMessage("Yes, it is old.", role="assistant")]
        >>> rewritten = QueryRewriteTransform().run(ConversationQuery("Who built it?", chat_history=turns))
        >>> rewritten.rewrite.original, "mill" in rewritten.embedding_strs[0]
        ('Who built it?', True)
    """

    intrinsic: ClassVar[str] = "query-rewrite"

    def _tell(self, query: QueryBundle, result: QueryRewrite) -> TransformedQuery:
        # What else is to be embedded (the passage of HyDE) stays; the question in it is the rewritten one.
        own = says_it(query)
        texts = [embedding_query(result) if text in own else text for text in query.embedding_strs]
        return TransformedQuery(result.query, query.image_path, texts, rewrite=result)


class QueryExpansionTransform(_ConversationTransform):
    """The question with other ways to say it, for vector search.

    Returns a query bundle with an ``expansion``: the question as it was, and all texts in ``custom_embedding_strs``
    (LlamaIndex embeds their mean, as its own HyDE transform has it). To search with each text and fuse what is found,
    give it to an :class:`~llama_index.retrievers.rag_intrinsics.IntrinsicsRetriever`.

    Example:
        >>> from llama_index.query_transform.rag_intrinsics import QueryExpansionTransform
        >>> QueryExpansionTransform().run("Who built the tide mill at Port Ellery?").embedding_strs[0]
        'Who built the tide mill at Port Ellery?'
    """

    intrinsic: ClassVar[str] = "query-expansion"

    def _tell(self, query: QueryBundle, result: QueryExpansion) -> TransformedQuery:
        own = says_it(query)
        texts = [row.text for row in result.queries] + [text for text in query.embedding_strs if text not in own]
        return TransformedQuery(query.query_str, query.image_path, texts, expansion=result)
