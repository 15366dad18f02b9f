"""Chat models for the tests: real `BaseChatModel` subclasses, as a provider's package has them."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Sequence
from typing import Any, Literal

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable, RunnableLambda, RunnableMap, RunnablePassthrough
from pydantic import Field

from tests.contract.chat_model import Counting


class JudgeModel(Counting, BaseChatModel):
    """Replies with what ``reply(messages, settings)`` gives; keeps what it was asked."""

    reply: Callable[[list[BaseMessage], dict[str, Any]], Any]
    seen: list[dict[str, Any]] = Field(default_factory=list)  # shared with copies, not between models
    pause: float = 0.0
    under_way: list[int] = Field(default_factory=lambda: [0, 0])  # now, and at most

    @property
    def _llm_type(self) -> str:
        return "judge"

    def _settings(self) -> dict[str, Any]:
        return {}

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        self.entered()
        time.sleep(self.pause)
        return self._result(messages, kwargs | self._settings(), "sync")

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        self.entered()
        await asyncio.sleep(self.pause)
        return self._result(messages, kwargs | self._settings(), "async")

    def _result(self, messages: list[BaseMessage], settings: dict[str, Any], how: str) -> ChatResult:
        reply = self.replied(messages, settings, how)
        message = reply if isinstance(reply, AIMessage) else AIMessage(reply)
        return ChatResult(generations=[ChatGeneration(message=message)])


class SchemaModel(JudgeModel):
    """One that has JSON schema output and log-probabilities, as an OpenAI-compatible provider's class has them."""

    logprobs: bool | None = None
    top_logprobs: int | None = None

    def _settings(self) -> dict[str, Any]:
        return {"logprobs": self.logprobs, "top_logprobs": self.top_logprobs}

    def with_structured_output(
        self,
        schema: Any,
        *,
        method: Literal["function_calling", "json_schema"] = "json_schema",
        include_raw: bool = False,
        **kwargs: Any,
    ) -> Runnable[Any, Any]:
        assert method == "json_schema"
        named = {"name": schema.get("title", "reply"), "schema": schema}
        bound = self.bind(response_format={"type": "json_schema", "json_schema": named})
        parser = RunnableLambda(lambda message: json.loads(message.text))
        if not include_raw:
            return bound | parser
        parsed = RunnablePassthrough.assign(
            parsed=lambda x: parser.invoke(x["raw"]), parsing_error=lambda _: None
        ).with_fallbacks([RunnablePassthrough.assign(parsed=lambda _: None)], exception_key="parsing_error")
        return RunnableMap(raw=bound) | parsed


class SetModel(JudgeModel):
    """One with a temperature and a seed, as a provider's class has them."""

    temperature: float | None = None
    seed: int | None = None

    def _settings(self) -> dict[str, Any]:
        return {"temperature": self.temperature, "seed": self.seed}


def said(text: str, rows: Sequence[dict[str, Any]]) -> AIMessage:
    """A reply whose tokens have these log-probabilities."""
    return AIMessage(
        text,
        response_metadata={"logprobs": {"content": rows}, "finish_reason": "stop"},
        usage_metadata={
            "input_tokens": 50,
            "output_tokens": 3,
            "total_tokens": 53,
            "input_token_details": {"cache_read": 40},
        },
    )
