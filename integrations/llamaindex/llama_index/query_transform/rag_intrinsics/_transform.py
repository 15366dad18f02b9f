"""What the transforms share: where the conversation comes from, and a way to await them."""

from __future__ import annotations

import logging
from typing import Any

from llama_index.core.indices.query.query_transform.base import BaseQueryTransform
from llama_index.core.instrumentation import get_dispatcher  # type: ignore[attr-defined]
from llama_index.core.memory import BaseMemory
from llama_index.core.schema import QueryBundle, QueryType
from llama_index.rag_intrinsics._component import IntrinsicComponent
from llama_index.rag_intrinsics._inputs import aremembered, conversation, distinct, passages, remembered
from pydantic import Field

from intrinsics_core.protocol.results import Result

dispatcher = get_dispatcher(__name__)


class ConversationTransform(IntrinsicComponent, BaseQueryTransform):
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
        call = self._ask(conversation(query_bundle, history=history), _first_results(metadata))
        return self._transformed(query_bundle, self._result(call))

    async def arun(self, query_bundle_or_str: QueryType, metadata: dict[str, Any] | None = None) -> QueryBundle:
        """Like ``run``, without ever blocking the event loop."""
        return await self._arun(_bundle(query_bundle_or_str), metadata or {})

    @dispatcher.span
    async def _arun(self, query_bundle: QueryBundle, metadata: dict[str, Any]) -> QueryBundle:
        history = metadata.get("chat_history") or await aremembered(query_bundle, self.memory)
        call = self._ask(conversation(query_bundle, history=history), _first_results(metadata))
        return self._transformed(query_bundle, await self._aresult(call))

    def _transformed(self, query: QueryBundle, result: Result) -> QueryBundle:
        if result.degraded:
            logging.getLogger(__name__).warning("%s fell back: %s", self.intrinsic, result.degraded)
        return self._tell(query, result)


def _bundle(query: QueryType) -> QueryBundle:
    return QueryBundle(query) if isinstance(query, str) else query


def _first_results(metadata: dict[str, Any]) -> list[dict[str, Any]]:
    return passages(distinct(metadata.get("nodes") or ()))
