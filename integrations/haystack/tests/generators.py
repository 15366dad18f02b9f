"""Chat generators for the tests: real components, as a provider's package has them."""

import asyncio
import json
import math
import threading
import time
from collections.abc import Callable
from typing import Any

from haystack import component, default_from_dict, default_to_dict
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.dataclasses import ChatMessage

from intrinsics_core.protocol.requests import Generate, JsonSchema
from intrinsics_core.protocol.task import Message
from tests.contract.judge import judge

Reply = Callable[[list[ChatMessage], dict[str, Any]], Any]

_COUNTING = threading.Lock()


def judging(messages: list[ChatMessage], settings: dict[str, Any]) -> Any:
    """The contract's judge behind a chat generator that is asked for structured output."""
    schema = settings["response_format"]["json_schema"]["schema"] if settings else None
    turns = tuple(Message(m.role.value, m.text or "") for m in messages)
    return judge(Generate("test", messages=turns, constraint=schema and JsonSchema(schema)))


@component
class SyncGenerator:
    """Has `run` alone."""

    def __init__(self, reply: Reply = judging, pause: float = 0.0) -> None:
        self.reply, self.pause = reply, pause
        self.seen: list[dict[str, Any]] = []
        self.life: list[str] = []
        self.under_way = [0, 0]  # now, and at most

    def to_dict(self) -> dict[str, Any]:
        return default_to_dict(self, pause=self.pause)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Any:
        return default_from_dict(cls, data)

    def warm_up(self) -> None:
        self.life.append("warm_up")

    def close(self) -> None:
        self.life.append("close")

    @component.output_types(replies=list[ChatMessage])
    def run(
        self, messages: list[ChatMessage], generation_kwargs: dict[str, Any] | None = None, tools: Any = None
    ) -> dict[str, Any]:
        self._enter()
        time.sleep(self.pause)
        return self._replied(messages, generation_kwargs, "sync")

    def _enter(self) -> None:
        with _COUNTING:
            self.under_way[0] += 1
            self.under_way[1] = max(self.under_way)

    def _replied(self, messages: list[ChatMessage], settings: dict[str, Any] | None, how: str) -> dict[str, Any]:
        with _COUNTING:
            self.under_way[0] -= 1
        self.seen.append({"messages": messages, "settings": settings or {}, "how": how})
        reply = self.reply(messages, settings or {})
        if isinstance(reply, Exception):
            raise reply
        if not isinstance(reply, ChatMessage):
            reply = ChatMessage.from_assistant(reply if isinstance(reply, str) else json.dumps(reply))
        return {"replies": [reply]}


@component
class AsyncGenerator(SyncGenerator):
    """Has `run_async` too."""

    @component.output_types(replies=list[ChatMessage])
    def run(
        self, messages: list[ChatMessage], generation_kwargs: dict[str, Any] | None = None, tools: Any = None
    ) -> dict[str, Any]:
        self._enter()
        time.sleep(self.pause)
        return self._replied(messages, generation_kwargs, "sync")

    @component.output_types(replies=list[ChatMessage])
    async def run_async(
        self, messages: list[ChatMessage], generation_kwargs: dict[str, Any] | None = None, tools: Any = None
    ) -> dict[str, Any]:
        self._enter()
        await asyncio.sleep(self.pause)
        return self._replied(messages, generation_kwargs, "async")

    async def warm_up_async(self) -> None:
        self.life.append("warm_up_async")

    async def close_async(self) -> None:
        self.life.append("close_async")


@component
class OpenAILike(OpenAIChatGenerator):
    """Haystack's own OpenAI generator, its wire cut: `run` answers from a function."""

    def __init__(self, reply: Reply) -> None:
        self.reply = reply
        self.seen: list[dict[str, Any]] = []

    @component.output_types(replies=list[ChatMessage])
    def run(self, messages: list[ChatMessage], generation_kwargs: dict[str, Any] | None = None) -> dict[str, Any]:
        self.seen.append(generation_kwargs or {})
        reply = self.reply(messages, generation_kwargs or {})
        if isinstance(reply, Exception):
            raise reply
        return {"replies": [reply]}

    @component.output_types(replies=list[ChatMessage])
    async def run_async(
        self, messages: list[ChatMessage], generation_kwargs: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        return self.run(messages, generation_kwargs)


def with_logprobs(before: str, options: dict[str, float], chosen: str, after: str) -> ChatMessage:
    """A reply whose log-probabilities say how likely each option was at its place."""

    def row(token: str, probability: float, top: dict[str, float]) -> dict[str, Any]:
        tops = [{"token": t, "logprob": math.log(p)} for t, p in top.items()]
        return {"token": token, "logprob": math.log(probability), "top_logprobs": tops}

    content = [row(before, 1.0, {before: 1.0}), row(chosen, options[chosen], options), row(after, 1.0, {after: 1.0})]
    usage = {"prompt_tokens": 50, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 40}}
    meta = {"logprobs": {"content": content}, "finish_reason": "stop", "usage": usage}
    return ChatMessage.from_assistant(before + chosen + after, meta=meta)
