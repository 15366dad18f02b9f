"""Your own LLM as a runtime."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from llama_index.core.base.llms.types import LogProb
from llama_index.core.llms import LLM, ChatMessage, ChatResponse, CustomLLM
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.llms.structured_llm import StructuredLLM
from pydantic import BaseModel, ConfigDict

from intrinsics_core import Profile
from intrinsics_core.protocol.requests import Generate, Generated, JsonSchema, TokenLogprob, Usage
from intrinsics_core.runtimes import register_chat_models
from intrinsics_core.runtimes.chat import (
    DRAWN_BY,
    LOGPROBS,
    SCHEMA,
    TOP_LOGPROBS,
    ChatRuntime,
    drawing,
    ended,
    token_logprobs,
    turns,
)

# Of an LLM's additional_kwargs: what its answers are to be made with, and no verdict.
_WRITERS = frozenset(
    ("tools", "tool_choice", "parallel_tool_calls", "functions", "function_call", "response_format", "stream",
     "stream_options")
)  # fmt: skip
# Some are asked for it by a function call.
_REFUSES_SCHEMA = re.compile(rf"{ChatRuntime.refusals[SCHEMA].pattern}|tool.?(call|choice|use)|function.?call", re.I)


_Ask = tuple[LLM, Sequence[ChatMessage], Mapping[str, Any]]  # whom to ask what, with which keyword arguments


class LLMRuntime(ChatRuntime):
    """Any LlamaIndex LLM serves every intrinsic, through the ``prompted`` profile.

    Args:
        llm: the LLM, which may be the one that writes the answers. Its own settings (temperature, retries, timeout) are
            kept, but for tools, a format of replies, and the class of a structured LLM: these are the writer's. A judge
            does best at temperature 0. Samples are drawn at the request's temperature where the LLM has a lower one.
        profile: the profile its requests are rendered with; ``prompted`` where left out.
        concurrency: chats under way at once: those of asynchronous callers, and as many of synchronous ones.
        structured_output: whether to constrain replies by JSON schema. None: where the LLM says that it can, by
            ``response_format`` (the OpenAI family) or by calling a function. Without it the LLM is asked in words, and
            its reply is read leniently but checked in full.
        logprobs: whether to ask for log-probabilities, from which scores come. None: where the LLM's class has the
            settings ``logprobs`` and ``top_logprobs`` and constrains replies by ``response_format``. Without them
            scores come from the confidence that the LLM states, which is worth less.

    An LLM that refuses one of the two is asked without it from then on; a warning says so. An LLM that only has a
    synchronous ``chat``, or whose connections belong to an event loop that is over, is asked in a thread. Chats are
    spans inside the component's own.

    Example:
        >>> from llama_index.core.llms import MockLLM
        >>> from llama_index.rag_intrinsics import LLMRuntime
        >>> LLMRuntime(MockLLM(), concurrency=4)
        LLMRuntime(MockLLM, plain text)
    """

    called = "LLM"
    refusals = ChatRuntime.refusals | {SCHEMA: _REFUSES_SCHEMA}

    def __init__(
        self,
        llm: LLM,
        *,
        profile: Profile | None = None,
        concurrency: int = 8,
        structured_output: bool | None = None,
        logprobs: bool | None = None,
    ) -> None:
        llm = _judging(llm)
        features = {
            SCHEMA: _takes_schema(llm) if structured_output is None else structured_output,
            LOGPROBS: _gives_logprobs(llm) if logprobs is None else logprobs,
        }
        super().__init__(llm, features, profile=profile, concurrency=concurrency)
        self.llm = llm
        self._drawn: dict[tuple[float, int | None], LLM] = {}  # by temperature and seed; each keeps its clients
        self._settings: tuple[Any, ...] = ()  # of the LLM, when these were copied

    def ask(self, request: Generate, features: frozenset[str]) -> ChatResponse:
        llm, messages, options = self._asking(request, features)
        return llm.chat(messages, **options)

    async def aask(self, request: Generate, features: frozenset[str]) -> ChatResponse:
        llm, messages, options = self._asking(request, features)
        defined_by = next(kind for kind in type(self.llm).__mro__ if "achat" in vars(kind))
        if defined_by is not CustomLLM:  # whose achat is the synchronous chat in disguise
            try:
                return await llm.achat(messages, **options)
            except Exception as error:
                if not _of_another_loop(error):
                    raise
        return await asyncio.to_thread(llm.chat, messages, **options)

    def read(self, reply: ChatResponse, seconds: float) -> Generated:
        text, raw = reply.message.content or "", _mapping(reply.raw)
        choices = raw.get("choices")
        choice = _mapping(choices[0]) if isinstance(choices, list) and choices else {}
        tokens = {**_mapping(raw.get("usage")), **reply.additional_kwargs}
        # From the raw reply of the OpenAI family, else from LlamaIndex's own lists.
        rows = _mapping(choice.get("logprobs")).get("content")
        return Generated(
            text,
            logprobs=token_logprobs(rows, text) if rows else _from_lists(reply.logprobs or (), text),
            finish_reason=ended(choice, raw),
            usage=Usage(
                requests=1,
                prompt_tokens=int(tokens.get("prompt_tokens") or 0),
                completion_tokens=int(tokens.get("completion_tokens") or 0),
                cached_tokens=int(_mapping(tokens.get("prompt_tokens_details")).get("cached_tokens") or 0),
                seconds=seconds,
            ),
        )

    def _asking(self, request: Generate, features: frozenset[str]) -> _Ask:
        llm = self._drawing(request)
        messages = [ChatMessage(text, role=role) for role, text in turns(request)]
        options: dict[str, Any] = {"stop": list(request.stop)} if request.stop else {}
        if LOGPROBS in features:
            options |= {"logprobs": True, "top_logprobs": TOP_LOGPROBS}
        if isinstance(request.constraint, JsonSchema) and SCHEMA in features:
            schema = dict(request.constraint.schema)
            if not _takes_response_format(llm):
                return llm.as_structured_llm(_shape(schema)), messages, options
            name = re.sub(r"\W+", "_", str(schema.get("title", "reply")))
            strict = schema.get("additionalProperties") is False  # enforced only then, and only in this shape
            named = {"name": name, "schema": schema, "strict": strict}
            options["response_format"] = {"type": "json_schema", "json_schema": named}
        return llm, messages, options

    def _drawing(self, request: Generate) -> LLM:
        """The LLM that this request is drawn with; most often itself. A copy is kept until a setting is changed."""
        changes = _changes(self.llm, request)
        if not changes:
            return self.llm
        settings = (self.llm, *vars(self.llm).values())
        if [*map(id, settings)] != [*map(id, self._settings)]:
            self._drawn, self._settings = {}, settings
        key = (request.temperature, request.seed)
        if key not in self._drawn:
            self._drawn[key] = self.llm.model_copy(update=changes)
        return self._drawn[key]


def _of_another_loop(error: BaseException | None) -> bool:
    """Whether a client failed because its connections belong to another event loop, or to one that is closed."""
    for _ in range(10):  # links of the chain; providers wrap it two or three times
        if error is None:
            return False
        if isinstance(error, RuntimeError) and "event loop" in str(error).lower():
            return True
        error = error.__cause__ or error.__context__
    return False


def _judging(llm: LLM) -> LLM:
    """The LLM without what is there for its answers: a class of objects, tools, a format. Clients are shared."""
    while isinstance(llm, StructuredLLM):
        llm = llm.llm
    options = getattr(llm, "additional_kwargs", None)
    if not isinstance(options, Mapping) or not _WRITERS & set(options):
        return llm
    kept = {name: value for name, value in options.items() if name not in _WRITERS}
    return llm.model_copy(update={"additional_kwargs": kept})


def _changes(llm: LLM, request: Generate) -> dict[str, Any]:
    """The fields of an LLM that this request changes, for its temperature and its seed; most often none.

    What stands in ``additional_kwargs`` goes before the fields.
    """
    fields = {name: getattr(llm, name) for name in DRAWN_BY if name in type(llm).model_fields}
    options = getattr(llm, "additional_kwargs", None)
    inside = dict(options) if isinstance(options, Mapping) else {}
    changes, changed = drawing(request, fields), drawing(request, inside)
    if changed:
        changes["additional_kwargs"] = inside | changed
    return changes


def _takes_response_format(llm: LLM) -> bool:
    says: Callable[[], bool] | None = getattr(llm, "_should_use_structure_outputs", None)  # the OpenAI family
    return says is not None and bool(says())


def _takes_schema(llm: LLM) -> bool:
    calls_functions = isinstance(llm, FunctionCallingLLM) and llm.metadata.is_function_calling_model
    return _takes_response_format(llm) or calls_functions


def _gives_logprobs(llm: LLM) -> bool:
    return _takes_response_format(llm) and {"logprobs", "top_logprobs"} <= set(type(llm).model_fields)


def _shape(schema: dict[str, Any]) -> type[BaseModel]:
    """The class that LlamaIndex wants in place of a schema. It admits anything: the core checks the reply."""

    class Reply(BaseModel):
        model_config = ConfigDict(extra="allow", title=schema.get("title"))

        @classmethod
        def model_json_schema(cls, *_: Any, **__: Any) -> dict[str, Any]:
            return schema

    Reply.__name__ = str(schema.get("title", "Reply"))
    Reply.__doc__ = str(schema.get("description", "The reply."))
    return Reply


def _mapping(value: Any) -> Mapping[str, Any]:
    """What a provider's object or dict holds; nothing, where it is neither."""
    if isinstance(value, BaseModel):
        value = value.model_dump()
    return value if isinstance(value, Mapping) else {}


def _from_lists(places: Sequence[Sequence[LogProb]], text: str) -> tuple[TokenLogprob, ...] | None:
    """The lists do not say which token was chosen: it is the likeliest one that the text goes on with."""
    tokens, at = [], 0
    for place in places:
        tops = tuple((top.token, top.logprob) for top in place)
        fitting = max((t for t in tops if t[0] and text.startswith(t[0], at)), key=lambda t: t[1], default=None)
        if fitting is None:
            return None
        tokens.append(TokenLogprob(*fitting, tops))
        at += len(fitting[0])
    return tuple(tokens) if tokens and at == len(text) else None


register_chat_models(lambda spec: isinstance(spec, LLM), LLMRuntime)
