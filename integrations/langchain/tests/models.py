"""Chat models for the tests: real `BaseChatModel` subclasses, as a provider's package has them."""

from __future__ import annotations

import asyncio
import json
import math
import threading
import time
from collections.abc import Callable
from typing import Any, Literal

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable, RunnableLambda, RunnableMap, RunnablePassthrough
from pydantic import Field

_COUNTING = threading.Lock()


class JudgeModel(BaseChatModel):
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
        self._enter()
        time.sleep(self.pause)
        return self._result(messages, kwargs | self._settings(), "sync")

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        self._enter()
        await asyncio.sleep(self.pause)
        return self._result(messages, kwargs | self._settings(), "async")

    def _enter(self) -> None:
        with _COUNTING:
            self.under_way[0] += 1
            self.under_way[1] = max(self.under_way)

    def _result(self, messages: list[BaseMessage], settings: dict[str, Any], how: str) -> ChatResult:
        with _COUNTING:
            self.under_way[0] -= 1
        self.seen.append({"messages": messages, "settings": settings, "how": how})
        reply = self.reply(messages, settings)
        if isinstance(reply, Exception):
            raise reply
        message = (
            reply if isinstance(reply, AIMessage) else AIMessage(reply if isinstance(reply, str) else json.dumps(reply))
        )
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
        bound = self.bind(response_format={"type": "json_schema", "json_schema": schema})
        parser = RunnableLambda(lambda message: json.loads(message.text))
        if not include_raw:
            return bound | parser
        parsed = RunnablePassthrough.assign(
            parsed=lambda x: parser.invoke(x["raw"]), parsing_error=lambda _: None
        ).with_fallbacks([RunnablePassthrough.assign(parsed=lambda _: None)], exception_key="parsing_error")
        return RunnableMap(raw=bound) | parsed


def with_logprobs(before: str, options: dict[str, float], chosen: str, after: str) -> AIMessage:
    """A reply whose log-probabilities say how likely each option was at its place."""

    def row(token: str, probability: float, top: dict[str, float]) -> dict[str, Any]:
        tops = [{"token": t, "logprob": math.log(p)} for t, p in top.items()]
        return {"token": token, "logprob": math.log(probability), "top_logprobs": tops}

    content = [row(before, 1.0, {before: 1.0}), row(chosen, options[chosen], options), row(after, 1.0, {after: 1.0})]
    return AIMessage(
        before + chosen + after,
        response_metadata={"logprobs": {"content": content}, "finish_reason": "stop"},
        usage_metadata={
            "input_tokens": 50,
            "output_tokens": 3,
            "total_tokens": 53,
            "input_token_details": {"cache_read": 40},
        },
    )
