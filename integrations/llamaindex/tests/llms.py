"""LLMs and parts for the tests: real subclasses of LlamaIndex's classes, as a provider's package has them."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from llama_index.core import VectorStoreIndex
from llama_index.core.bridge.pydantic import Field
from llama_index.core.instrumentation import get_dispatcher
from llama_index.core.instrumentation.event_handlers import BaseEventHandler
from llama_index.core.instrumentation.span_handlers import SimpleSpanHandler
from llama_index.core.llms import (
    ChatMessage,
    ChatResponse,
    CompletionResponse,
    CustomLLM,
    LLMMetadata,
)
from llama_index.core.llms.callbacks import llm_chat_callback
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.llms.llm import ToolSelection
from llama_index.core.response_synthesizers import BaseSynthesizer
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from llama_index.embeddings.rag_intrinsics import IntrinsicsEmbedding

from tests.contract.chat_model import Counting
from tests.contract.scripts import FAITHFUL, INVENTED, PASSAGES, QUESTION, judging

__all__ = [
    "BOTH",
    "FAITHFUL",
    "INVENTED",
    "QUESTION",
    "WHEN",
    "CallingLLM",
    "ChattingLLM",
    "CompletingLLM",
    "Events",
    "Gives",
    "JudgeLLM",
    "Says",
    "SchemaLLM",
    "SetLLM",
    "Traced",
    "judging",
    "nodes",
    "searching",
    "streamed",
    "synthesized",
    "texts",
]

BOTH = ("citations", "hallucination_detection")
"""Two checks of an answer, each in a verdict of its own."""

WHEN = "When was the mill built?"
"""A question that the passage of the mill answers as a whole."""


def texts() -> list[TextNode]:
    return [TextNode(id_=name, text=text, metadata={**meta}) for name, text, meta in PASSAGES]


def nodes() -> list[NodeWithScore]:
    return [NodeWithScore(node=node, score=0.9 - 0.1 * i) for i, node in enumerate(texts())]


def searching(found: Sequence[TextNode] | None = None, k: int = 3) -> BaseRetriever:
    """A retriever of these nodes, or of the three that the tests share, by the encoder that ships."""
    index = VectorStoreIndex(list(found or texts()), embed_model=IntrinsicsEmbedding())
    return index.as_retriever(similarity_top_k=k)


class JudgeLLM(Counting, CustomLLM):
    """Chats natively, synchronously and not; replies with what ``reply(messages, settings)`` gives."""

    reply: Callable[[Sequence[ChatMessage], dict[str, Any]], Any]
    seen: list[dict[str, Any]] = Field(default_factory=list)
    pause: float = 0.0
    under_way: list[int] = Field(default_factory=lambda: [0, 0])  # now, and at most

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(is_chat_model=True)

    @llm_chat_callback()
    def chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        self.entered()
        time.sleep(self.pause)
        return self._result(messages, kwargs, "sync")

    @llm_chat_callback()
    async def achat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        self.entered()
        await asyncio.sleep(self.pause)
        return self._result(messages, kwargs, "async")

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        raise AssertionError("a chat model is asked to chat")

    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:
        raise AssertionError("nothing here streams")

    def _result(self, messages: Sequence[ChatMessage], settings: dict[str, Any], how: str) -> ChatResponse:
        reply = self.replied(list(messages), settings, how)
        return reply if isinstance(reply, ChatResponse) else ChatResponse(message=ChatMessage(reply, role="assistant"))


class SetLLM(JudgeLLM):
    """One with a temperature, and a seed among its further settings, as a provider's class has them."""

    temperature: float | None = None
    additional_kwargs: dict[str, Any] = Field(default_factory=dict)

    def replied(self, messages: Any, settings: Any, how: str) -> Any:
        return super().replied(messages, {"temperature": self.temperature} | self.additional_kwargs | settings, how)


class SchemaLLM(JudgeLLM):
    """One of the OpenAI family: JSON schema by ``response_format``, and log-probabilities."""

    logprobs: bool | None = None
    top_logprobs: int = 0

    def _should_use_structure_outputs(self) -> bool:
        return True


class CompletingLLM(CustomLLM):
    """A plain ``CustomLLM``, as people write one: only ``complete``."""

    reply: str
    threads: list[int] = Field(default_factory=list)

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata()

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        self.threads.append(threading.get_ident())
        return CompletionResponse(text=self.reply)

    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:
        def tokens() -> Any:
            said = ""
            for token in self.reply.split(" "):
                said += token + " "
                yield CompletionResponse(text=said, delta=token + " ")

        return tokens()


class ChattingLLM(FunctionCallingLLM):
    """Calls functions, and completes and streams nothing."""

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(is_chat_model=True, is_function_calling_model=True)

    def complete(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError

    stream_chat = stream_complete = complete

    async def acomplete(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError

    astream_chat = astream_complete = acomplete


class CallingLLM(ChattingLLM):
    """Gives structured output by calling a function."""

    arguments: dict[str, Any] | None  # None: it does not call
    said: str = ""
    offered: list[Any] = Field(default_factory=list)

    def _prepare_chat_with_tools(self, tools: Any, user_msg: Any = None, chat_history: Any = None, **_: Any) -> Any:
        self.offered += [tool.metadata.get_parameters_dict() for tool in tools]
        return {"messages": chat_history}

    def get_tool_calls_from_response(self, response: Any, **_: Any) -> list[ToolSelection]:
        if self.arguments is None:
            raise ValueError("Expected at least one tool call, but got 0 tool calls.")
        name = "answerability"
        return [ToolSelection(tool_id="1", tool_name=name, tool_kwargs=self.arguments)]

    def chat(self, messages: Any, **kwargs: Any) -> ChatResponse:
        return ChatResponse(message=ChatMessage(self.said, role="assistant"))

    async def achat(self, messages: Any, **kwargs: Any) -> ChatResponse:
        return ChatResponse(message=ChatMessage(self.said, role="assistant"))


class Says(BaseSynthesizer):
    """An answer that is told beforehand; keeps what it was asked. ``made`` counts the tokens made so far."""

    def __init__(self, answer: str, *, streaming: bool = False) -> None:
        super().__init__(llm=CompletingLLM(reply=answer), streaming=streaming)
        self.answer, self.asked, self.made = answer, 0, 0

    def get_response(self, query_str: str, text_chunks: Sequence[str], **kwargs: Any) -> Any:
        self.asked += 1
        return self._tokens() if self._streaming else self.answer

    async def aget_response(self, query_str: str, text_chunks: Sequence[str], **kwargs: Any) -> Any:
        self.asked += 1
        return self._atokens() if self._streaming else self.answer

    def _tokens(self) -> Any:
        for token in self.answer.split(" "):
            self.made += 1
            yield token + " "

    async def _atokens(self) -> Any:
        for token in self.answer.split(" "):
            self.made += 1
            await asyncio.sleep(0)
            yield token + " "

    def _get_prompts(self) -> dict[str, Any]:
        return {}

    def _update_prompts(self, prompts: dict[str, Any]) -> None:
        pass


class Gives(BaseRetriever):
    """A retriever that gives these nodes, whatever it is asked."""

    def __init__(self, found: list[NodeWithScore]) -> None:
        super().__init__()
        self.found = found

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return self.found


async def streamed(responding: Awaitable[Any]) -> tuple[list[str], Any]:
    """The tokens of a response that streams, and the response when they have come."""
    response = await responding
    return [token async for token in response.async_response_gen()], response


def synthesized(synthesizer: Any, asynchronous: bool) -> tuple[list[str], Any]:
    """The tokens of an answer that streams, and the response when they have come."""
    if asynchronous:
        return asyncio.run(streamed(synthesizer.asynthesize(QUESTION, nodes())))
    response = synthesizer.synthesize(QUESTION, nodes())
    return list(response.response_gen), response


class Events(BaseEventHandler):
    """Keeps the events."""

    seen: list[Any] = Field(default_factory=list)

    @classmethod
    def class_name(cls) -> str:
        return "Events"

    def handle(self, event: Any, **kwargs: Any) -> None:
        self.seen.append(event)

    def names(self) -> list[str]:
        return [event.class_name() for event in self.seen]


class Traced:
    """Records events and spans while it lasts."""

    def __enter__(self) -> Traced:
        self.events, self.spans = Events(), SimpleSpanHandler()
        self._root = get_dispatcher()
        self._before = (list(self._root.event_handlers), list(self._root.span_handlers))
        self._root.add_event_handler(self.events)
        self._root.add_span_handler(self.spans)
        return self

    def __exit__(self, *_: object) -> None:
        self._root.event_handlers, self._root.span_handlers = self._before

    def parents(self) -> dict[str, str | None]:
        """By span's name (``Class.method``), its parent's."""
        names = {span.id_: span.id_.rsplit("-", 5)[0] for span in self.spans.completed_spans}
        return {names[s.id_]: names.get(s.parent_id) if s.parent_id else None for s in self.spans.completed_spans}
