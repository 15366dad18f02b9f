"""Chat generators for the tests: real components, as a provider's package has them."""

import asyncio
import time
from collections.abc import Callable
from typing import Any

from haystack import component, default_from_dict, default_to_dict
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.dataclasses import ChatMessage

from intrinsics_core.protocol.requests import Generate, JsonSchema
from intrinsics_core.protocol.task import Message
from tests.contract.chat_model import Counting
from tests.contract.judge import judge

Reply = Callable[[list[ChatMessage], dict[str, Any]], Any]


def judging(messages: list[ChatMessage], settings: dict[str, Any]) -> Any:
    """The contract's judge behind a chat generator that is asked for structured output."""
    schema = settings["response_format"]["json_schema"]["schema"] if settings else None
    turns = tuple(Message(m.role.value, m.text or "") for m in messages)
    return judge(Generate("test", messages=turns, constraint=schema and JsonSchema(schema)))


class Replying(Counting):
    def _replies(self, messages: list[ChatMessage], settings: dict[str, Any] | None, how: str) -> dict[str, Any]:
        reply = self.replied(messages, settings or {}, how)
        return {"replies": [reply if isinstance(reply, ChatMessage) else ChatMessage.from_assistant(reply)]}


@component
class SyncGenerator(Replying):
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
        self.entered()
        time.sleep(self.pause)
        return self._replies(messages, generation_kwargs, "sync")


@component
class AsyncGenerator(SyncGenerator):
    """Has `run_async` too."""

    @component.output_types(replies=list[ChatMessage])
    async def run_async(
        self, messages: list[ChatMessage], generation_kwargs: dict[str, Any] | None = None, tools: Any = None
    ) -> dict[str, Any]:
        self.entered()
        await asyncio.sleep(self.pause)
        return self._replies(messages, generation_kwargs, "async")

    async def warm_up_async(self) -> None:
        self.life.append("warm_up_async")

    async def close_async(self) -> None:
        self.life.append("close_async")


@component
class OpenAILike(Replying, OpenAIChatGenerator):
    """Haystack's own OpenAI generator, its wire cut: `run` answers from a function."""

    def __init__(self, reply: Reply) -> None:
        self.reply = reply
        self.seen: list[dict[str, Any]] = []
        self.under_way = [0, 0]

    @component.output_types(replies=list[ChatMessage])
    def run(self, messages: list[ChatMessage], generation_kwargs: dict[str, Any] | None = None) -> dict[str, Any]:
        self.entered()
        return self._replies(messages, generation_kwargs, "sync")

    @component.output_types(replies=list[ChatMessage])
    async def run_async(
        self, messages: list[ChatMessage], generation_kwargs: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        return self.run(messages, generation_kwargs)
