"""Your own chat model as a runtime."""

from __future__ import annotations

import inspect
import json
import warnings
from collections.abc import Mapping
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, convert_to_messages
from langchain_core.runnables import Runnable, RunnableConfig, RunnableParallel, RunnableSequence, ensure_config
from langchain_core.runnables.base import RunnableBindingBase
from pydantic import BaseModel

from intrinsics_core import InvalidInput, Profile
from intrinsics_core.protocol.requests import Generate, Generated, JsonSchema, Usage
from intrinsics_core.runtimes import chat, register_chat_models
from intrinsics_core.runtimes.chat import LOGPROBS, SCHEMA, TOP_LOGPROBS, ChatRuntime
from langchain_rag_intrinsics._wrapped import AnyRunnable, chat_models, over


class ChatModelRuntime(ChatRuntime):
    """Any chat model serves every intrinsic, through the ``prompted`` profile.

    Args:
        model: a chat model, or one in a wrapper (``with_retry()``, ``with_fallbacks()``, ``bind(...)``, configurable
            fields). Its own settings are kept; a judge does best at temperature 0. Any other Runnable over messages is
            asked in words alone, and a warning says so.
        profile: the profile its requests are rendered with; ``prompted`` where left out.
        concurrency: model calls under way at once: those of asynchronous callers, and as many of synchronous ones.
        structured_output: whether to constrain replies by JSON schema. None: where the model's class can.
        logprobs: whether to ask for log-probabilities, from which scores come. None: where the model's class can.

    A model that refuses one of the two is asked without it from then on; a warning says so. Its calls are spans with
    the tag ``nostream``: a judge's tokens are not the answer's.

    Example:
        >>> from langchain_core.language_models import FakeListChatModel
        >>> from langchain_rag_intrinsics import AnswerabilityGate, ChatModelRuntime
        >>> judge = FakeListChatModel(responses=['{"answerability": "unanswerable", "confidence": 0.9}'])
        >>> gate = AnswerabilityGate(runtime=ChatModelRuntime(judge, concurrency=4))
        >>> gate.invoke({"question": "Who built the mill?", "documents": ["The mill has two wheels."]})["answerability"]
        {'label': 'unanswerable', 'probability': 0.09999999999999998, 'schema_version': 1}

    Raises:
        InvalidInput: ``concurrency`` is no whole number from 1, or a feature is asked of a Runnable without chat model.
    """

    called = "chat model"

    def __init__(self, model: AnyRunnable, *, profile: Profile | None = None, concurrency: int = 8,
                 structured_output: bool | None = None, logprobs: bool | None = None) -> None:  # fmt: skip
        found = chat_models(model)
        wanted = {SCHEMA: structured_output, LOGPROBS: logprobs}
        if found is None:
            _tell_of_opaque(type(model).__name__, wanted)
        takes = {SCHEMA: _takes_schema, LOGPROBS: _gives_logprobs}
        # One that is chosen with each call may take a feature.
        may = {name: any(each is None or takes[name](each) for each in found or ()) for name in wanted}
        features = {name: may[name] if on is None else on for name, on in wanted.items()}
        super().__init__(model, features, profile=profile, concurrency=concurrency)
        self.model = model
        self._insisted = {name for name, on in wanted.items() if on}

    def ask(self, request: Generate, features: frozenset[str]) -> Any:
        model, messages, config = self._asking(request, features)
        return model.invoke(messages, config)

    async def aask(self, request: Generate, features: frozenset[str]) -> Any:
        model, messages, config = self._asking(request, features)
        return await model.ainvoke(messages, config)

    def read(self, reply: Any, seconds: float) -> Generated:
        structured = isinstance(reply, Mapping) and "raw" in reply
        got, parsed = (reply["raw"], reply.get("parsed")) if structured else (reply, None)
        if not isinstance(got, BaseMessage):
            return Generated(str(got), usage=Usage(requests=1, seconds=seconds))
        text, metadata = str(got.text), got.response_metadata
        tokens: Mapping[str, Any] = (got.usage_metadata if isinstance(got, AIMessage) else None) or {}
        if not text.strip():  # some models put structured output where no text is
            if parsed is None:
                calls = got.tool_calls if isinstance(got, AIMessage) else []
                parsed = got.additional_kwargs.get("parsed") or (calls[0]["args"] if calls else None)
            parsed = parsed.model_dump(mode="json") if isinstance(parsed, BaseModel) else parsed
            text = json.dumps(parsed) if isinstance(parsed, Mapping) else text
        cached = (tokens.get("input_token_details") or {}).get("cache_read", 0)
        usage = Usage(requests=1, prompt_tokens=tokens.get("input_tokens", 0),
                      completion_tokens=tokens.get("output_tokens", 0), cached_tokens=cached,
                      seconds=seconds)  # fmt: skip
        return Generated(text, usage=usage, finish_reason=chat.ended(metadata),
                         logprobs=chat.token_logprobs(metadata.get("logprobs"), text))  # fmt: skip

    def _asking(self, request: Generate, features: frozenset[str]) -> tuple[AnyRunnable, list[Any], RunnableConfig]:
        """Who is asked, what, and how."""

        def asking(model: BaseChatModel) -> AnyRunnable:
            fields = type(model).model_fields
            settings = chat.drawing(request, {name: getattr(model, name) for name in chat.DRAWN_BY if name in fields})
            if request.attempt or request.temperature > 0:
                settings["cache"] = False  # or LangChain's cache would give the same sample, or malformed reply, again
            if LOGPROBS in features and (LOGPROBS in self._insisted or _gives_logprobs(model)):
                settings |= {"logprobs": True, "top_logprobs": TOP_LOGPROBS}
            model = model.model_copy(update=settings) if settings else model
            if isinstance(request.constraint, JsonSchema) and SCHEMA in features:
                schema = dict(request.constraint.schema)
                if SCHEMA in self._insisted or _takes_schema(model):
                    return _asked_alone(model.with_structured_output(schema, method="json_schema", include_raw=True))
            return _stopping(model, request)

        config = ensure_config({"tags": ["nostream", f"rag_intrinsics:{request.intrinsic}"]})
        model = over(self.model, config, asking) or _stopping(self.model, request)
        return model, convert_to_messages(list(chat.turns(request))), config


def _tell_of_opaque(name: str, wanted: Mapping[str, bool | None]) -> None:
    """Says what is lost with a Runnable in which no chat model is found."""
    if asked := [feature for feature, on in wanted.items() if on]:
        raise InvalidInput(f"{' and '.join(asked)} cannot be asked of this {name}: no chat model is found in it",
                           expected="a chat model, or one with retries, fallbacks or settings bound to it")  # fmt: skip
    if lost := [feature for feature, on in wanted.items() if on is None]:
        told = f"no chat model is found in this {name}: it is asked without {' and '.join(lost)}. Give the chat model, "
        meant = "or say that it is meant: ChatModelRuntime(..., structured_output=False, logprobs=False)"
        warnings.warn(told + meant, RuntimeWarning, stacklevel=3)


def _stopping(model: AnyRunnable, request: Generate) -> AnyRunnable:
    return model.bind(stop=list(request.stop)) if request.stop else model


def _takes_schema(model: BaseChatModel) -> bool:
    if (model.profile or {}).get("structured_output") is False:
        return False
    # The base class takes any method= and calls a tool instead; only an override that names json_schema means it.
    method = inspect.signature(type(model).with_structured_output).parameters.get("method")
    return method is not None and "json_schema" in f"{method.annotation} {method.default}"


def _gives_logprobs(model: BaseChatModel) -> bool:
    if (model.profile or {}).get("reasoning_output"):
        return False
    return {"logprobs", "top_logprobs"} <= set(type(model).model_fields)


def _asked_alone(structured: Runnable[Any, Any]) -> Runnable[Any, Any]:
    """The model with its schema, without LangChain's own parser: eight further spans around each call."""
    first = structured.first if isinstance(structured, RunnableSequence) else None
    asked = first.steps__.get("raw") if isinstance(first, RunnableParallel) else None
    return asked if isinstance(asked, RunnableBindingBase) and isinstance(asked.bound, BaseChatModel) else structured


register_chat_models(lambda spec: isinstance(spec, Runnable), ChatModelRuntime)
