"""Your own chat model as a runtime."""

from __future__ import annotations

import asyncio
import inspect
import json
import re
import threading
import time
import warnings
from collections.abc import Generator, Mapping, Sequence
from typing import Any

from langchain_core.exceptions import ContextOverflowError, ModelTimeoutError
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.config import ContextThreadPoolExecutor

from intrinsics_core import (
    ContextTooLong,
    IntrinsicsError,
    Profile,
    RequestTimeout,
    Runtime,
    RuntimeUnavailable,
)
from intrinsics_core.exchange import Generate, Generated, JsonSchema, Outcome, Request, TokenLogprob, Usage
from intrinsics_core.merging import as_intrinsics_error
from intrinsics_core.profiles import profile as named_profile
from intrinsics_core.runtimes._limiter import Limiter
from intrinsics_core.runtimes._settings import count
from intrinsics_core.runtimes.base import unsupported

TOP_LOGPROBS = 20  # the most that common servers give; a judge's label competes with few tokens

SCHEMA, LOGPROBS = "JSON schema", "log-probabilities"
# How servers and clients call the thing they refuse.
_REFUSED = {
    LOGPROBS: re.compile(r"log_?probs?", re.I),
    SCHEMA: re.compile(r"response_?format|json_?\s?schema|structured.?output|guided", re.I),
}
_TOO_LONG = re.compile(
    r"context.{0,10}(length|window|size)|maximum context|too many (input )?tokens|prompt is too long", re.I
)
_TIMEOUT = re.compile(r"time.?out|timed out|deadline.?exceeded", re.I)

_TURNS = {"system": SystemMessage, "developer": SystemMessage, "assistant": AIMessage}

Exchange = Generator[Runnable[Any, Any], Any, Outcome]


class ChatModelRuntime(Runtime):
    """Any chat model serves every intrinsic, through the ``prompted`` profile.

    Args:
        model: a chat model, or a Runnable over one (``model.with_retry()``, ``model.bind(...)``). Its own settings
            (temperature, retries, timeout, rate limit) are kept; a judge does best at temperature 0.
        profile: the profile its requests are rendered with; ``prompted`` where left out.
        concurrency: model calls under way at once: those of asynchronous callers, over all event loops, and as many of
            synchronous callers, over all threads. The two do not wait for one another: a synchronous call made where
            an event loop runs would stop the very calls that it waits for.
        structured_output: whether to constrain replies by JSON schema. None: where the model's class has
            ``with_structured_output(method="json_schema")`` and its profile does not say otherwise. Without it the
            model is asked in words, and its reply is read leniently but checked in full.
        logprobs: whether to ask for log-probabilities, from which scores come. None: where the model's class has the
            settings ``logprobs`` and ``top_logprobs`` and its profile does not call it a reasoning model. Without them
            scores come from the confidence that the model states, which is worth less.

    A model that refuses one of the two at the first request (an error that names it) is asked without it from then on;
    a warning says so. Callbacks, tags and metadata of the Runnable at work reach the model, so its calls are spans
    inside that Runnable's. Calls carry the tag ``nostream``: a judge's tokens are not the answer's.

    Example:
        >>> from langchain_core.language_models import FakeListChatModel
        >>> from langchain_rag_intrinsics import AnswerabilityGate, ChatModelRuntime
        >>> judge = FakeListChatModel(responses=['{"answerability": "unanswerable", "confidence": 0.9}'])
        >>> gate = AnswerabilityGate(runtime=ChatModelRuntime(judge, concurrency=4))
        >>> gate.invoke({"question": "Who built the mill?", "documents": ["The mill has two wheels."]})["answerability"]
        {'label': 'unanswerable', 'probability': 0.09999999999999998}

    Raises:
        InvalidInput: ``concurrency`` is no whole number from 1.
    """

    blocking = False

    def __init__(
        self,
        model: Runnable[Any, Any],
        *,
        profile: Profile | None = None,
        concurrency: int = 8,
        structured_output: bool | None = None,
        logprobs: bool | None = None,
    ) -> None:
        self.model = model
        self.profile = profile or named_profile("prompted")
        self.concurrency = count("concurrency", concurrency, least=1)
        wanted = {
            SCHEMA: _takes_schema(model) if structured_output is None else structured_output,
            LOGPROBS: _gives_logprobs(model) if logprobs is None else logprobs,
        }
        self._features = {name for name, on in wanted.items() if on}
        self._threads = threading.BoundedSemaphore(concurrency)
        self._limiter = Limiter(concurrency)

    def __repr__(self) -> str:
        return f"ChatModelRuntime({type(self.model).__name__}, {', '.join(sorted(self._features)) or 'plain text'})"

    def handle(self, requests: Sequence[Request]) -> list[Outcome]:
        if len(requests) == 1:
            return [self._answer(requests[0])]
        # The context goes with each thread: callbacks find the span that they belong to.
        with ContextThreadPoolExecutor(max_workers=min(len(requests), self.concurrency)) as pool:
            return list(pool.map(self._answer, requests))

    async def ahandle(self, requests: Sequence[Request]) -> list[Outcome]:
        async with asyncio.TaskGroup() as group:  # none goes on where the wave is given up
            tasks = [group.create_task(self._aanswer(request)) for request in requests]
        return [task.result() for task in tasks]

    def _answer(self, request: Request) -> Outcome:
        steps = self._exchange(request)
        with self._threads:
            try:
                runnable = next(steps)
                while True:
                    try:
                        got: Any = runnable.invoke(_messages(request), _config(request))
                    except Exception as error:
                        got = error
                    runnable = steps.send(got)
            except StopIteration as stop:
                outcome: Outcome = stop.value
                return outcome
            except Exception as error:  # an outcome, so that the other requests of the wave go on
                return as_intrinsics_error(error)

    async def _aanswer(self, request: Request) -> Outcome:
        steps = self._exchange(request)
        async with self._limiter:
            try:
                runnable = next(steps)
                while True:
                    try:
                        got: Any = await runnable.ainvoke(_messages(request), _config(request))
                    except Exception as error:
                        got = error
                    runnable = steps.send(got)
            except StopIteration as stop:
                outcome: Outcome = stop.value
                return outcome
            except Exception as error:  # an outcome, so that the other requests of the wave go on
                return as_intrinsics_error(error)

    def _exchange(self, request: Request) -> Exchange:
        """One request, sans I/O: yields the Runnable to ask, is sent its reply or exception."""
        if not isinstance(request, Generate) or request.messages is None or request.adapter or request.documents:
            return unsupported("chat model", request)
        started = time.perf_counter()
        while True:
            features = frozenset(self._features)
            got = yield self._asking(request, features)
            if not isinstance(got, Exception):
                return _generated(got, time.perf_counter() - started)
            if not self._without_what_it_refuses(got, request, features):
                return _failure(got)

    def _asking(self, request: Generate, features: frozenset[str]) -> Runnable[Any, Any]:
        model = self.model
        settings: dict[str, Any] = {}
        if request.attempt:
            settings["cache"] = False  # or LangChain's cache would give the same malformed reply again
        if request.logprobs and LOGPROBS in features:
            settings |= {"logprobs": True, "top_logprobs": TOP_LOGPROBS}
        if isinstance(model, BaseChatModel):
            model = model.model_copy(update=settings) if settings else model
            if isinstance(request.constraint, JsonSchema) and SCHEMA in features:
                schema = dict(request.constraint.schema)
                return model.with_structured_output(schema, method="json_schema", include_raw=True)
        return model.bind(stop=list(request.stop)) if request.stop else model

    def _without_what_it_refuses(self, error: Exception, request: Generate, features: frozenset[str]) -> bool:
        """Whether the error was the refusal of a feature that was asked for; from now on it is not."""
        used = features & {
            name
            for name, asked in ((LOGPROBS, request.logprobs), (SCHEMA, isinstance(request.constraint, JsonSchema)))
            if asked
        }
        for name in sorted(used, reverse=True):
            if _REFUSED[name].search(f"{type(error).__name__} {error}"):
                if name in self._features:
                    self._features.discard(name)
                    warnings.warn(
                        f"{type(self.model).__name__} refuses {name} and is asked without from now on: {error}",
                        RuntimeWarning,
                        stacklevel=2,
                    )
                return True
        return False


def _takes_schema(model: Runnable[Any, Any]) -> bool:
    if not isinstance(model, BaseChatModel) or (model.profile or {}).get("structured_output") is False:
        return False
    # The base class takes any method= and calls a tool instead; only an override that names json_schema means it.
    method = inspect.signature(type(model).with_structured_output).parameters.get("method")
    return method is not None and "json_schema" in f"{method.annotation} {method.default}"


def _gives_logprobs(model: Runnable[Any, Any]) -> bool:
    if not isinstance(model, BaseChatModel) or (model.profile or {}).get("reasoning_output"):
        return False
    return {"logprobs", "top_logprobs"} <= set(type(model).model_fields)


def _config(request: Request) -> RunnableConfig:
    return {"tags": ["nostream", f"rag_intrinsics:{request.intrinsic}"]}


def _messages(request: Request) -> list[BaseMessage]:
    assert isinstance(request, Generate)
    # A tool's turn without the call that asked for it is refused by most providers: it is shown as a user's.
    return [_TURNS.get(m.role, HumanMessage)(m.content) for m in request.messages or ()]


def _generated(got: Any, seconds: float) -> Generated:
    parsed = None
    if isinstance(got, Mapping) and "raw" in got:
        got, parsed = got["raw"], got.get("parsed")
    if not isinstance(got, BaseMessage):
        return Generated(str(got), usage=Usage(requests=1, seconds=seconds))
    text = str(got.text)
    if not text.strip() and parsed is not None:
        text = json.dumps(parsed)  # some models put structured output where no text is
    metadata = got.response_metadata
    tokens: Mapping[str, Any] = (got.usage_metadata if isinstance(got, AIMessage) else None) or {}
    return Generated(
        text,
        logprobs=_logprobs(metadata.get("logprobs"), text),
        finish_reason=metadata.get("finish_reason") or metadata.get("stop_reason") or metadata.get("done_reason"),
        usage=Usage(
            requests=1,
            prompt_tokens=tokens.get("input_tokens", 0),
            completion_tokens=tokens.get("output_tokens", 0),
            cached_tokens=(tokens.get("input_token_details") or {}).get("cache_read", 0),
            seconds=seconds,
        ),
    )


def _logprobs(value: Any, text: str) -> tuple[TokenLogprob, ...] | None:
    """Log-probabilities as OpenAI-compatible models report them; None where these are not the tokens of this text."""
    rows = value.get("content") if isinstance(value, Mapping) else value
    if not isinstance(rows, list):
        return None
    try:
        tokens = tuple(
            TokenLogprob(
                row["token"],
                float(row["logprob"]),
                tuple((top["token"], float(top["logprob"])) for top in row.get("top_logprobs") or ()),
            )
            for row in rows
        )
    except (KeyError, TypeError, ValueError):
        return None
    return tokens if "".join(token.token for token in tokens) == text else None


def _failure(error: Exception) -> IntrinsicsError:
    """A provider's exception in the core's tree."""
    if isinstance(error, IntrinsicsError):
        return error
    words = f"{' '.join(kind.__name__ for kind in type(error).__mro__)} {error}"
    if isinstance(error, ContextOverflowError) or _TOO_LONG.search(words):
        kind: type[IntrinsicsError] = ContextTooLong
    elif isinstance(error, ModelTimeoutError | TimeoutError) or _TIMEOUT.search(words):
        kind = RequestTimeout
    else:
        kind = RuntimeUnavailable
    failure = kind(f"the chat model failed: {type(error).__name__}: {error}")
    failure.__cause__ = error
    return failure
