"""LLMs and parts for the tests: real subclasses of LlamaIndex's classes, as a provider's package has them."""

from __future__ import annotations

import asyncio
import json
import math
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from llama_index.core.bridge.pydantic import Field
from llama_index.core.embeddings import BaseEmbedding
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
from llama_index.core.schema import NodeWithScore, TextNode

from intrinsics_core.embedded.models.bi_encoder import BiEncoder
from tests.contract.judge import judge
from tests.scripted import Scripted

QUESTION = "Who built the mill, and when?"
FAITHFUL = "Ada Brink built the mill in 1911."
INVENTED = "The bakery sold purple umbrellas."


def texts() -> list[TextNode]:
    return [
        TextNode(id_="cranes", text="Port Ellery has two cranes.", metadata={"page": 3}),
        TextNode(
            id_="mill",
            text="The tide mill stands on the east quay. Ada Brink built the mill in 1911.",
            metadata={"page": 7, "title": "The mill"},
        ),
        TextNode(id_="fog", text="Fog is common from March to May."),
    ]


def nodes() -> list[NodeWithScore]:
    return [NodeWithScore(node=node, score=0.9 - 0.1 * i) for i, node in enumerate(texts())]


def judging() -> Scripted:
    return Scripted(judge)


class ShippedEmbedding(BaseEmbedding):
    """The library's own encoder in LlamaIndex's shape."""

    def _vector(self, text: str, kind: Any) -> list[float]:
        return [float(x) for x in _ENCODER.encode([text], kind=kind)[0].mean(axis=0)]

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._vector(query, "query")

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._vector(query, "query")

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._vector(text, "passage")


_ENCODER = BiEncoder()
_COUNTING = threading.Lock()


class JudgeLLM(CustomLLM):
    """Chats natively, synchronously and not; replies with what ``reply(messages, options)`` gives."""

    reply: Callable[[Sequence[ChatMessage], dict[str, Any]], Any]
    seen: list[dict[str, Any]] = Field(default_factory=list)
    pause: float = 0.0
    under_way: list[int] = Field(default_factory=lambda: [0, 0])  # now, and at most

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(is_chat_model=True)

    @llm_chat_callback()
    def chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        self._enter()
        time.sleep(self.pause)
        return self._result(messages, kwargs, "sync")

    @llm_chat_callback()
    async def achat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        self._enter()
        await asyncio.sleep(self.pause)
        return self._result(messages, kwargs, "async")

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        raise AssertionError("a chat model is asked to chat")

    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:
        raise AssertionError("nothing here streams")

    def _enter(self) -> None:
        with _COUNTING:
            self.under_way[0] += 1
            self.under_way[1] = max(self.under_way)

    def _result(self, messages: Sequence[ChatMessage], options: dict[str, Any], how: str) -> ChatResponse:
        with _COUNTING:
            self.under_way[0] -= 1
        self.seen.append({"messages": list(messages), "options": options, "how": how})
        reply = self.reply(messages, options)
        if isinstance(reply, Exception):
            raise reply
        if isinstance(reply, ChatResponse):
            return reply
        text = reply if isinstance(reply, str) else json.dumps(reply)
        return ChatResponse(message=ChatMessage(text, role="assistant"))


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


class CallingLLM(FunctionCallingLLM):
    """Gives structured output by calling a function."""

    arguments: dict[str, Any] | None  # None: it does not call
    said: str = ""
    offered: list[Any] = Field(default_factory=list)

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(is_chat_model=True, is_function_calling_model=True)

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

    def complete(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError

    stream_chat = stream_complete = complete

    async def acomplete(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError

    astream_chat = astream_complete = acomplete


def with_logprobs(before: str, options: dict[str, float], chosen: str, after: str) -> ChatResponse:
    """A reply of the OpenAI family whose log-probabilities say how likely each option was at its place."""

    def row(token: str, probability: float, top: dict[str, float]) -> dict[str, Any]:
        tops = [{"token": t, "logprob": math.log(p)} for t, p in top.items()]
        return {"token": token, "logprob": math.log(probability), "top_logprobs": tops}

    content = [row(before, 1.0, {before: 1.0}), row(chosen, options[chosen], options), row(after, 1.0, {after: 1.0})]
    text = before + chosen + after
    return ChatResponse(
        message=ChatMessage(text, role="assistant"),
        raw={
            "choices": [{"finish_reason": "stop", "logprobs": {"content": content}}],
            "usage": {
                "prompt_tokens": 50,
                "completion_tokens": 3,
                "prompt_tokens_details": {"cached_tokens": 40},
            },
        },
    )


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
