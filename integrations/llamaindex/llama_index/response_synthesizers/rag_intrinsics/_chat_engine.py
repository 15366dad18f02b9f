"""LlamaIndex's chat engine with a gate and verdicts in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from inspect import signature
from typing import Any

from llama_index.core import Settings
from llama_index.core.chat_engine import CondensePlusContextChatEngine
from llama_index.core.chat_engine.types import AgentChatResponse, StreamingAgentChatResponse
from llama_index.core.llms import ChatMessage
from llama_index.core.memory import BaseMemory, ChatMemoryBuffer
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore
from llama_index.query_transform.rag_intrinsics import QueryExpansionTransform, QueryRewriteTransform
from llama_index.rag_intrinsics._settings import check_names
from llama_index.rag_intrinsics.query import ConversationQuery
from llama_index.response_synthesizers.rag_intrinsics.gate import NOTED, AnswerabilityGate
from llama_index.retrievers.rag_intrinsics import IntrinsicsRetriever

_LLAMAINDEXS = ("system_prompt", "context_prompt", "context_refine_prompt", "verbose")


class GatedChatEngine(CondensePlusContextChatEngine):
    """See :meth:`AnswerabilityGate.as_chat_engine`."""

    _gate: AnswerabilityGate

    @classmethod
    def of(
        cls,
        gate: AnswerabilityGate,
        retriever: BaseRetriever,
        *,
        chat_history: Sequence[ChatMessage] = (),
        memory: BaseMemory | None = None,
        node_postprocessors: Sequence[BaseNodePostprocessor] = (),
        rewriter: QueryRewriteTransform | None = None,
        expander: QueryExpansionTransform | None = None,
        **settings: Any,
    ) -> GatedChatEngine:
        known = [*signature(cls.of).parameters, *_LLAMAINDEXS]
        check_names(settings, known, called=f"{type(gate).__name__}.as_chat_engine")
        judge, llm = gate._gate, gate._llm
        if not isinstance(retriever, IntrinsicsRetriever):
            rewriter = rewriter or QueryRewriteTransform(
                runtime=judge.runtime,
                api_key=judge.api_key,
                profile=judge.profile,
                date=judge.date,
                on_error="raise" if judge.on_error == "raise" else "fallback",
            )
            retriever = IntrinsicsRetriever(retriever, rewriter=rewriter, expander=expander)
        if memory is None:
            most = max(llm.metadata.context_window - 256, 256)
            memory = ChatMemoryBuffer.from_defaults(chat_history=list(chat_history), token_limit=most)
        engine = cls(
            retriever=retriever,
            llm=llm,
            memory=memory,
            skip_condense=True,
            node_postprocessors=list(node_postprocessors),
            callback_manager=Settings.callback_manager,
            **settings,
        )
        engine._gate = gate
        return engine

    def chat(self, message: str, chat_history: list[ChatMessage] | None = None) -> AgentChatResponse:
        NOTED.set({})
        response: AgentChatResponse = super().chat(message, chat_history)
        return replace(response, metadata=NOTED.get())

    async def achat(self, message: str, chat_history: list[ChatMessage] | None = None) -> AgentChatResponse:
        NOTED.set({})
        response: AgentChatResponse = await super().achat(message, chat_history)
        return replace(response, metadata=NOTED.get())

    def stream_chat(self, message: str, chat_history: list[ChatMessage] | None = None) -> StreamingAgentChatResponse:
        NOTED.set({})
        return _with_metadata(super().stream_chat(message, chat_history))

    async def astream_chat(
        self, message: str, chat_history: list[ChatMessage] | None = None
    ) -> StreamingAgentChatResponse:
        NOTED.set({})
        return _with_metadata(await super().astream_chat(message, chat_history))

    # --- what LlamaIndex calls on the way -----------------------------------------------------------------------------

    def _get_nodes(self, message: str) -> list[NodeWithScore]:
        query = ConversationQuery(message, chat_history=self._memory.get(input=message))
        nodes = self._retriever.retrieve(query)
        for postprocessor in self._node_postprocessors:
            nodes = postprocessor.postprocess_nodes(nodes, query_bundle=query)
        return nodes

    async def _aget_nodes(self, message: str) -> list[NodeWithScore]:
        query = ConversationQuery(message, chat_history=await self._memory.aget(input=message))
        nodes = await self._retriever.aretrieve(query)
        for postprocessor in self._node_postprocessors:
            nodes = await postprocessor.apostprocess_nodes(nodes, query_bundle=query)
        return nodes

    def _get_response_synthesizer(self, chat_history: list[ChatMessage], streaming: bool = False) -> Any:
        return self._gate.of_turn(super()._get_response_synthesizer(chat_history, streaming=streaming), chat_history)


def _with_metadata(stream: StreamingAgentChatResponse) -> StreamingAgentChatResponse:
    """LlamaIndex's class has no metadata; the verdicts are written into this as the stream ends."""
    stream.metadata = NOTED.get()  # type: ignore[attr-defined]
    return stream
