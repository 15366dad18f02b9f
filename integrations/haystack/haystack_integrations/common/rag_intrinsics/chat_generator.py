"""Your own chat generator as a runtime."""

from __future__ import annotations

import asyncio
import copy
import inspect
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from haystack import default_from_dict, default_to_dict
from haystack.core.serialization import component_to_dict
from haystack.dataclasses import ChatMessage
from haystack.tracing.tracer import Span, tracer

from intrinsics_core import Profile, RuntimeUnavailable
from intrinsics_core.protocol.requests import Generate, Generated, JsonSchema, Outcome, Usage
from intrinsics_core.runtimes import chat, register_chat_models
from intrinsics_core.runtimes.chat import LOGPROBS, SCHEMA, TOP_LOGPROBS, ChatRuntime

# What a family of chat generators is known to have, by the name of the class, or of one that it is derived from. Most
# others speak it too, but only where they are told to.
_RESPONSES = "OpenAIResponsesChatGenerator"
_GIVES = {
    "OpenAIChatGenerator": {SCHEMA, LOGPROBS},
    _RESPONSES: {SCHEMA, LOGPROBS},
    "HuggingFaceAPIChatGenerator": {SCHEMA},
}

# What a writer's calls have, and a judge's have not: tools, a stream, a form of the answer.
_WRITERS = ("streaming_callback", "tools", "tools_strict")
_WRITERS_KWARGS = frozenset({
    "function_call", "functions", "n", "parallel_tool_calls", "response_format", "stream", "stream_options", "text",
    "text_format", "tool_choice", "tools",
})  # fmt: skip

_TURNS = {"system": ChatMessage.from_system, "user": ChatMessage.from_user, "assistant": ChatMessage.from_assistant}


class ChatGeneratorRuntime(ChatRuntime):
    """
    Any Haystack chat generator serves every intrinsic, through the ``prompted`` profile.

    Components make one themselves of a chat generator that is given as `runtime`; make it yourself to set how it asks.
    It is asked without the tools, the streaming callback and the form of answers that were set for its own answers; the
    generator itself is not changed. A feature that it refuses (an error that names it) is left out from then on, with a
    warning. Calls are spans.

    Usage example:

    ```python
    from haystack.components.generators.chat import OpenAIChatGenerator
    from haystack_integrations.common.rag_intrinsics import ChatGeneratorRuntime
    from haystack_integrations.components.rankers.rag_intrinsics import RagIntrinsicsRanker

    judge = OpenAIChatGenerator(model="gpt-4.1-mini", generation_kwargs={"temperature": 0})
    ranker = RagIntrinsicsRanker(runtime=ChatGeneratorRuntime(judge, concurrency=4))
    ```
    """

    called = "chat generator"
    notice = "is now asked without"

    def __init__(self, chat_generator: Any, *, concurrency: int = 8, structured_output: bool | None = None,
                 logprobs: bool | None = None, profile: Profile | None = None) -> None:  # fmt: skip
        """
        Make a runtime of a chat generator.

        :param chat_generator: Any component with `run(messages)` and `replies`. Its own settings are kept, but for
            samples and repeats, which are drawn at the request's temperature; a judge does best at temperature 0.
        :param concurrency: Calls under way at once: those of asynchronous callers, and as many of synchronous ones.
        :param structured_output: Whether to constrain replies by JSON schema, in `generation_kwargs`. None: where the
            generator is Haystack's OpenAI, OpenAI Responses or Hugging Face API one, or derived from one of these.
        :param logprobs: Whether to ask for log-probabilities, from which scores come. None: where the generator is one
            of Haystack's OpenAI ones, or derived from it. Else scores come from the confidence that the model states.
        :param profile: The profile its requests are rendered with; ``prompted`` where left out.
        """
        self._takes_settings = takes = "generation_kwargs" in inspect.signature(chat_generator.run).parameters
        names = [kind.__name__ for kind in type(chat_generator).__mro__]
        gives = next((_GIVES[name] for name in names if name in _GIVES), set())
        wanted = {SCHEMA: structured_output, LOGPROBS: logprobs}
        features = {name: takes and (name in gives if on is None else on) for name, on in wanted.items()}
        self._responses = _RESPONSES in names
        super().__init__(chat_generator, features, profile=profile, concurrency=concurrency)
        self.chat_generator = chat_generator
        self.structured_output, self.logprobs = structured_output, logprobs

    def to_dict(self) -> dict[str, Any]:
        """Serialize to a dictionary. The profile is always ``prompted`` after loading."""
        generator = component_to_dict(self.chat_generator, "chat_generator")
        return default_to_dict(self, chat_generator=generator, concurrency=self.concurrency,
                               structured_output=self.structured_output, logprobs=self.logprobs)  # fmt: skip

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> ChatGeneratorRuntime:
        """Deserialize from a dictionary."""
        return default_from_dict(cls, data)

    def warm_up(self) -> None:
        getattr(self.chat_generator, "warm_up", bool)()  # some have none

    async def awarm_up(self) -> None:
        await _acalled(self.chat_generator, "warm_up")

    def close(self) -> None:
        getattr(self.chat_generator, "close", bool)()

    async def aclose(self) -> None:
        await _acalled(self.chat_generator, "close")

    def ask(self, request: Generate, features: frozenset[str]) -> Any:
        if _not_of_judges(self.chat_generator):
            self.warm_up()  # makes the client, which is shared
        with self._asking(request, features) as (judge, inputs, span):
            got = judge.run(**inputs)
            span.set_content_tag("haystack.component.output", got)
        return got

    async def aask(self, request: Generate, features: frozenset[str]) -> Any:
        if _not_of_judges(self.chat_generator):
            await self.awarm_up()
        with self._asking(request, features) as (judge, inputs, span):
            if callable(getattr(judge, "run_async", None)):
                got = await judge.run_async(**inputs)
            else:
                got = await asyncio.to_thread(judge.run, **inputs)
            span.set_content_tag("haystack.component.output", got)
        return got

    @contextmanager
    def _asking(self, request: Generate, features: frozenset[str]) -> Iterator[tuple[Any, dict[str, Any], Span]]:
        """Who is asked, with what, inside the span that Haystack's own components open around a chat generator."""
        generator = self.chat_generator
        own = getattr(generator, "generation_kwargs", None) if self._takes_settings else None
        settings = chat.drawing(request, own if isinstance(own, Mapping) else {})
        if SCHEMA in features:
            settings |= _schema(request, self._responses)
        if LOGPROBS in features:
            extra = {"include": ["message.output_text.logprobs"]} if self._responses else {"logprobs": True}
            settings |= {"top_logprobs": TOP_LOGPROBS, **extra}
        messages = [_TURNS[role](text) for role, text in chat.turns(request)]
        inputs = {"messages": messages, **({"generation_kwargs": settings} if settings else {})}
        tags = {"haystack.component.name": "chat_generator", "haystack.component.type": type(generator).__name__}
        with tracer.trace("haystack.chat_generator.run", tags=tags, parent_span=tracer.current_span()) as span:
            span.set_content_tag("haystack.component.input", inputs)
            yield _changed(generator, _not_of_judges(generator)), inputs, span

    def read(self, reply: Any, seconds: float) -> Outcome:
        replies = reply.get("replies") if isinstance(reply, Mapping) else None
        said = replies[0] if replies else None
        if not isinstance(said, ChatMessage):
            return RuntimeUnavailable("the chat generator gave no reply", expected="{'replies': [ChatMessage, ...]}",
                                      got=repr(reply))  # fmt: skip
        text, usage = "".join(said.texts), said.meta.get("usage") or {}
        details = _of(usage, "prompt_tokens_details", "input_tokens_details")
        used = Usage(
            requests=1,
            prompt_tokens=_count(_of(usage, "prompt_tokens", "input_tokens")),
            completion_tokens=_count(_of(usage, "completion_tokens", "output_tokens")),
            cached_tokens=_count(_of(details, "cached_tokens")),
            seconds=seconds,
        )
        logprobs = chat.token_logprobs(said.meta.get("logprobs"), text)
        return Generated(text, logprobs=logprobs, finish_reason=chat.ended(said.meta), usage=used)


def _not_of_judges(generator: Any) -> dict[str, Any]:
    """The settings of a generator that a judge is asked without, and what stands in their place."""
    changes: dict[str, Any] = {name: None for name in _WRITERS if getattr(generator, name, None)}
    kwargs = getattr(generator, "generation_kwargs", None)
    if isinstance(kwargs, Mapping) and not _WRITERS_KWARGS.isdisjoint(kwargs):
        changes["generation_kwargs"] = {name: value for name, value in kwargs.items() if name not in _WRITERS_KWARGS}
    return changes


def _changed(generator: Any, changes: Mapping[str, Any]) -> Any:
    """The generator with other settings and the same clients; itself where there are none."""
    if not changes:
        return generator
    judge = copy.copy(generator)
    for name, value in changes.items():
        setattr(judge, name, value)
    return judge


def _schema(request: Generate, responses: bool) -> dict[str, Any]:
    schema = dict(request.constraint.schema) if isinstance(request.constraint, JsonSchema) else {}
    asked = {"name": re.sub(r"\W", "_", str(schema.get("title") or request.intrinsic)), "schema": schema}
    if responses:
        return {"text": {"format": {"type": "json_schema", **asked}}}
    return {"response_format": {"type": "json_schema", "json_schema": asked}}


def _of(told: Any, *names: str) -> Any:
    """What a provider tells, under whichever name."""
    return next((told[name] for name in names if told.get(name)), None) if isinstance(told, Mapping) else None


def _count(value: Any) -> int:
    return int(value) if isinstance(value, int | float) else 0


async def _acalled(generator: Any, name: str) -> None:
    if callable(method := getattr(generator, f"{name}_async", None)):
        await method()
    elif callable(method := getattr(generator, name, None)):
        await asyncio.to_thread(method)


# By what `@component` sets: other frameworks have objects with a method `run` too.
register_chat_models(lambda spec: hasattr(spec, "__haystack_input__"), ChatGeneratorRuntime)
