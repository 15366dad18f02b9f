"""A chat engine with a gate and verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import ContextVar
from dataclasses import replace
from inspect import signature
from typing import Any

from llama_index.core import Settings
from llama_index.core.base.response.schema import RESPONSE_TYPE
from llama_index.core.chat_engine import CondensePlusContextChatEngine
from llama_index.core.chat_engine.types import AgentChatResponse, StreamingAgentChatResponse
from llama_index.core.llms import LLM, ChatMessage
from llama_index.core.memory import BaseMemory, ChatMemoryBuffer
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.response_synthesizers import BaseSynthesizer
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryType
from llama_index.query_transform.rag_intrinsics import QueryExpansionTransform, QueryRewriteTransform
from llama_index.rag_intrinsics._settings import check_names
from llama_index.rag_intrinsics.query import ConversationQuery
from llama_index.response_synthesizers.rag_intrinsics import GroundedSynthesizer
from llama_index.retrievers.rag_intrinsics import IntrinsicsRetriever

from intrinsics_core.chains.notes import KEY

_OWN = ("inner", "streaming", "grounding")  # of the synthesizer, which the engine decides itself
_verdicts: ContextVar[dict[str, Any]] = ContextVar("verdicts of the answer under way")


class _Turn(GroundedSynthesizer):
    """The synthesizer of one turn: it knows the turns before, and leaves its verdicts where the engine finds them."""

    def __init__(self, inner: BaseSynthesizer, history: Sequence[ChatMessage], settings: dict[str, Any]) -> None:
        super().__init__(inner, **settings)
        self._history = history

    def synthesize(self, query: QueryType, nodes: list[NodeWithScore], *args: Any, **kwargs: Any) -> RESPONSE_TYPE:
        return _kept(super().synthesize(self._whole(query), nodes, *args, **kwargs))

    async def asynthesize(
        self, query: QueryType, nodes: list[NodeWithScore], *args: Any, **kwargs: Any
    ) -> RESPONSE_TYPE:
        return _kept(await super().asynthesize(self._whole(query), nodes, *args, **kwargs))

    def _whole(self, query: QueryType) -> ConversationQuery:
        return ConversationQuery(query if isinstance(query, str) else query.query_str, chat_history=self._history)


class GroundedChatEngine(CondensePlusContextChatEngine):
    """LlamaIndex's chat engine over a retriever, with intrinsics in it.

    Each message is rewritten in the light of the conversation (no LLM needed), searched for, filtered and reranked by
    the postprocessors, which see the conversation too, and gated: where the nodes do not answer it, the ``canned``
    answer comes back and the LLM is not asked. The answer's verdicts are in ``response.metadata["rag_intrinsics"]``; of
    ``stream_chat``, when the stream has ended. Memory holds what was said, as in any chat engine.

    Make it with :meth:`from_defaults`.

    Example:
        >>> from llama_index.core import VectorStoreIndex
        >>> from llama_index.core.llms import MockLLM
        >>> from llama_index.core.schema import TextNode
        >>> from llama_index.chat_engine.rag_intrinsics import GroundedChatEngine
        >>> from llama_index.embeddings.rag_intrinsics import IntrinsicsEmbedding
        >>> nodes = [TextNode(id_="mill", text="Ada Brink built the tide mill at Port Ellery in 1911.")]
        >>> search = VectorStoreIndex(nodes, embed_model=IntrinsicsEmbedding()).as_retriever()
        >>> chat = GroundedChatEngine.from_defaults(search, llm=MockLLM(), canned="The archive does not say.")
        >>> print(chat.chat("What does a ferry ticket cost?"))
        The archive does not say.
    """

    def __init__(self, *args: Any, grounding: dict[str, Any] | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._grounding = grounding or {}
        self._judging = GroundedSynthesizer(self._llm, **self._grounding)  # says now what is wrong with its settings

    @classmethod
    def from_defaults(  # type: ignore[override]
        cls,
        retriever: BaseRetriever,
        llm: LLM | None = None,
        *,
        chat_history: list[ChatMessage] | None = None,
        memory: BaseMemory | None = None,
        system_prompt: str | None = None,
        node_postprocessors: Sequence[BaseNodePostprocessor] = (),
        rewriter: QueryRewriteTransform | None = None,
        expander: QueryExpansionTransform | None = None,
        runtime: Any = None,
        api_key: Any = None,
        context_prompt: Any = None,
        context_refine_prompt: Any = None,
        verbose: bool = False,
        **grounding: Any,
    ) -> GroundedChatEngine:
        """
        Args:
            retriever: yours; an :class:`IntrinsicsRetriever` is taken as it is, with its own rewriter.
            llm: what answers; LlamaIndex's default where left out.
            chat_history: turns to begin with.
            memory: where the conversation is kept; a buffer of the LLM's size where left out.
            system_prompt, context_prompt, context_refine_prompt, verbose: as LlamaIndex has them.
            node_postprocessors: what comes between retrieving and answering.
            rewriter: makes the message stand alone for the retriever; left out, one with this ``runtime``, ``profile``
                and ``date``, which raises where ``on_error`` is ``"raise"`` and keeps the message otherwise.
            expander: asks in several ways; none where left out.
            runtime, api_key: where rewriting and judging are done.
            grounding: further settings of :class:`GroundedSynthesizer`: ``canned``, ``answerability``, ``mode``,
                ``block_unsure``, ``citations``, ``hallucination``, ``on_error``, ``on_judging_error``, ``profile``,
                ``date``.

        Raises:
            InvalidInput: there is no such setting, or a choice is none of those allowed; the message has the nearest
                name.
        """
        known = [*signature(cls.from_defaults).parameters, *signature(GroundedSynthesizer).parameters]
        check_names(grounding, [name for name in known if name not in _OWN], called=cls.__name__)
        llm = llm or Settings.llm
        settings = {"runtime": runtime, "api_key": api_key, **grounding}
        if not isinstance(retriever, IntrinsicsRetriever):
            rewriter = rewriter or QueryRewriteTransform(
                runtime=runtime,
                api_key=api_key,
                profile=grounding.get("profile"),
                date=grounding.get("date"),
                on_error="raise" if grounding.get("on_error", "raise") == "raise" else "fallback",
            )
            retriever = IntrinsicsRetriever(retriever, rewriter=rewriter, expander=expander)
        return cls(
            retriever=retriever,
            llm=llm,
            memory=memory
            or ChatMemoryBuffer.from_defaults(
                chat_history=list(chat_history or ()),  # the buffer writes into the list that it is given
                token_limit=max(llm.metadata.context_window - 256, 256),
            ),
            context_prompt=context_prompt,
            context_refine_prompt=context_refine_prompt,
            system_prompt=system_prompt,
            skip_condense=True,
            node_postprocessors=list(node_postprocessors),
            callback_manager=Settings.callback_manager,
            verbose=verbose,
            grounding=settings,
        )

    def chat(self, message: str, chat_history: list[ChatMessage] | None = None) -> AgentChatResponse:
        _verdicts.set({})
        response: AgentChatResponse = super().chat(message, chat_history)
        return replace(response, metadata=_verdicts.get())

    async def achat(self, message: str, chat_history: list[ChatMessage] | None = None) -> AgentChatResponse:
        _verdicts.set({})
        response: AgentChatResponse = await super().achat(message, chat_history)
        return replace(response, metadata=_verdicts.get())

    def stream_chat(self, message: str, chat_history: list[ChatMessage] | None = None) -> StreamingAgentChatResponse:
        _verdicts.set({})
        return _with_metadata(super().stream_chat(message, chat_history))

    async def astream_chat(
        self, message: str, chat_history: list[ChatMessage] | None = None
    ) -> StreamingAgentChatResponse:
        _verdicts.set({})
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
        inner = super()._get_response_synthesizer(chat_history, streaming=streaming)
        engine = self._judging._annotator.engine  # the same for every turn
        return _Turn(inner, chat_history, {**self._grounding, "runtime": engine, "api_key": None})


def _kept(response: RESPONSE_TYPE) -> RESPONSE_TYPE:
    _verdicts.get({})[KEY] = (response.metadata or {}).get(KEY, {})
    return response


def _with_metadata(stream: StreamingAgentChatResponse) -> StreamingAgentChatResponse:
    """LlamaIndex's class has no metadata; the verdicts are written into this as the stream ends."""
    stream.metadata = _verdicts.get()  # type: ignore[attr-defined]
    return stream
