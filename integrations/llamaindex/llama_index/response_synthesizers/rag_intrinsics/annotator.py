"""Verdicts on a response."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, TypeVar

from llama_index.core.base.response.schema import PydanticResponse, Response
from llama_index.core.chat_engine.types import AgentChatResponse
from llama_index.core.instrumentation import get_dispatcher  # type: ignore[attr-defined]
from llama_index.core.llms import ChatMessage
from llama_index.core.schema import NodeWithScore, QueryType
from llama_index.rag_intrinsics._component import IntrinsicComponent
from llama_index.rag_intrinsics._inputs import conversation, distinct, passages

from intrinsics_core import Call, IntrinsicsError, arun_many, citations, hallucination_detection, run_many

dispatcher = get_dispatcher(__name__)

KEY = "rag_intrinsics"
Finished = TypeVar("Finished", Response, PydanticResponse, AgentChatResponse)
Shown = TypeVar("Shown")
Verdicts = dict[str, Any]
History = Sequence[ChatMessage] | None


class ResponseAnnotator(IntrinsicComponent):
    """Adds to a finished response, of a query engine or a chat engine, what its source nodes say about it.

    Returns a copy whose ``metadata["rag_intrinsics"]`` holds, by intrinsic, what the command line writes:
    ``"citations"`` with the spans that each sentence rests on, ``"hallucination-detection"`` with a verdict for each
    sentence. Offsets count in the response's text and in the nodes' own texts. Both are asked for at the same time.

    Args:
        citations: whether to cite.
        hallucination: whether to judge each sentence.

    Example:
        >>> from llama_index.core.base.response.schema import Response
        >>> from llama_index.core.schema import NodeWithScore, TextNode
        >>> from llama_index.response_synthesizers.rag_intrinsics import ResponseAnnotator
        >>> node = NodeWithScore(node=TextNode(id_="mill", text="Ada Brink built the tide mill in 1911."))
        >>> response = Response("Ada Brink built the tide mill in 1911.", source_nodes=[node])
        >>> annotated = ResponseAnnotator().annotate("Who built the tide mill?", response)
        >>> annotated.metadata["rag_intrinsics"]["citations"]["citations"][0]["document_id"]
        'mill'
    """

    intrinsic: ClassVar[str] = "citations"

    citations: bool = True
    hallucination: bool = True

    def annotate(self, query: QueryType, response: Finished, *, chat_history: History = None) -> Finished:
        """The response with verdicts.

        Args:
            query: the question that it answers; a conversation query brings the turns before it.
            chat_history: the turns before the question.

        Raises:
            IntrinsicsError: see :mod:`intrinsics_core.errors`.
        """
        return annotated(response, self.verdicts(query, text_of(response), response.source_nodes, chat_history))

    async def aannotate(self, query: QueryType, response: Finished, *, chat_history: History = None) -> Finished:
        """Like :meth:`annotate`, without ever blocking the event loop."""
        return annotated(response, await self.averdicts(query, text_of(response), response.source_nodes, chat_history))

    @dispatcher.span
    def verdicts(
        self,
        query: QueryType,
        answer: str,
        nodes: Sequence[NodeWithScore],
        history: Sequence[ChatMessage] | None = None,
    ) -> Verdicts:
        """What :meth:`annotate` adds, for an answer and its nodes."""
        calls = self._calls(query, answer, nodes, history)
        return _named(calls, run_many(calls.values(), self.engine, profile=self.profile))

    @dispatcher.span
    async def averdicts(
        self,
        query: QueryType,
        answer: str,
        nodes: Sequence[NodeWithScore],
        history: Sequence[ChatMessage] | None = None,
    ) -> Verdicts:
        """Like :meth:`verdicts`, without ever blocking the event loop."""
        calls = self._calls(query, answer, nodes, history)
        return _named(calls, await arun_many(calls.values(), self.engine, profile=self.profile))

    def _calls(
        self, query: QueryType, answer: str, nodes: Sequence[NodeWithScore], history: History
    ) -> dict[str, Call[Any]]:
        messages, documents = conversation(query, answer, history), passages(distinct(nodes))
        wanted = {
            "citations": citations if self.citations else None,
            "hallucination-detection": hallucination_detection if self.hallucination else None,
        }
        return {name: ask(messages, documents, **self._settings()) for name, ask in wanted.items() if ask}


def text_of(response: Response | PydanticResponse | AgentChatResponse) -> str:
    """What the response says; a structured one says its JSON."""
    if response.response is None or isinstance(response.response, str):
        return response.response or ""
    return str(response)


def annotated(response: Shown, verdicts: Verdicts) -> Shown:
    """A copy of any response, streaming ones too, with verdicts beside those that are there."""
    any_response: Any = response  # LlamaIndex's responses are dataclasses without a common base
    before = any_response.metadata or {}
    copy: Shown = replace(any_response, metadata={**before, KEY: {**before.get(KEY, {}), **verdicts}})
    return copy


def _named(names: dict[str, Call[Any]], results: Sequence[Any]) -> Verdicts:
    for result in results:
        if isinstance(result, IntrinsicsError):
            raise result
    return {name: result.model_dump(mode="json") for name, result in zip(names, results, strict=True)}
