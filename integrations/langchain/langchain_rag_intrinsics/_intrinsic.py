"""The base of every component: read the input, run one call of the core, say it in LangChain's types."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Iterator, Sequence
from copy import deepcopy
from typing import Annotated, Any, ClassVar, Self

from langchain_core.messages import AIMessageChunk
from langchain_core.prompts import BasePromptTemplate
from langchain_core.runnables import Runnable, RunnableConfig, RunnableSerializable
from langchain_core.runnables.fallbacks import RunnableWithFallbacks
from pydantic import BeforeValidator, ConfigDict, PrivateAttr, SecretStr, model_validator

from intrinsics_core import INTRINSICS, Call, InvalidInput, Runtime, arun, run
from intrinsics_core.intrinsics import TABLE
from intrinsics_core.protocol.names import unknown
from intrinsics_core.protocol.results import Result
from intrinsics_core.running import Lock
from intrinsics_core.running.steps import ENDED, Steps, arun_steps, astream_steps, run_steps, stream_steps
from intrinsics_core.runtimes.configs import key_apart
from langchain_rag_intrinsics import _runtime
from langchain_rag_intrinsics._messages import ChainInput, is_canned, kept, read

# One for all components: a lock of a component's own could not be copied or pickled with it.
_making = Lock()


def several(value: Any) -> Any:
    """Names as a tuple, from one alone or several."""
    return (value,) if isinstance(value, str) else tuple(value)


def _fields(value: Any) -> Any:
    """Names of metadata, from a list of them, one alone, or the prompt that shows a document to the model."""
    if isinstance(value, BasePromptTemplate):
        return tuple(name for name in value.input_variables if name != "page_content")
    return several(value)


# To a type checker they are what a user may write: names, one name or a prompt; here they are a tuple of names.
MetadataFields = Annotated[Any, BeforeValidator(_fields)]
Names = Annotated[Any, BeforeValidator(several)]


class Intrinsic(RunnableSerializable[Any, Any], ABC):
    """A Runnable over one intrinsic. Its run is a span, and the model calls it causes are spans inside.

    Args:
        runtime: a core runtime, a config such as ``{"kind": "server", "base_url": ...}``, your own chat model or its
            name (``"openai:gpt-4o-mini"``), or None, also ``"embedded"``, for the embedded encoder (offline, CPU).
        api_key: the key for a runtime config; saved components name it, as ``RAG_INTRINSICS_API_KEY``.
        profile: a profile or its name; the runtime's own where left out.
        on_error: ``"raise"``, or ``"fallback"`` where the intrinsic has one; then the result says that it is degraded.
            None: a judge of an answer falls back, all others raise. ``with_retry()`` and ``with_fallbacks()`` refuse a
            component that raises no errors.
        metadata_fields: metadata that the answering model is shown beside a document's text, so that the judge sees it
            too: names, or the ``document_prompt`` of your chain. A title is always shown.
        date: date text for prompts that carry one; the day of the call where left out.
        return_result: return the core's result object instead of LangChain's types.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid", hide_input_in_errors=True)

    intrinsic: ClassVar[str]
    _options: ClassVar[Sequence[str]] = ()  # settings that are arguments of the intrinsic, beside those of all

    # Made a runtime at the first call: building a component stays cheap, and no message of pydantic's shows a config.
    runtime: Any = None
    api_key: SecretStr | None = None
    profile: Any = None
    on_error: str | None = None
    metadata_fields: MetadataFields = ()
    date: str | None = None
    return_result: bool = False

    _engine: Runtime | None = PrivateAttr(default=None)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        for name in kwargs:
            if name not in type(self).model_fields:
                raise unknown(f"{type(self).__name__} has no setting of that name", name, type(self).model_fields)
        super().__init__(*args, **kwargs)
        if self.on_error is not None:  # here, and not in a validator, which would hide the error in one of pydantic's
            TABLE[self.intrinsic].chosen(self.on_error)
        _runtime.check(self.runtime, self.profile)

    @classmethod
    def is_lc_serializable(cls) -> bool:
        return True

    @property
    def lc_secrets(self) -> dict[str, str]:
        return {"api_key": _runtime.API_KEY}

    @model_validator(mode="before")
    @classmethod
    def _key_apart(cls, values: Any) -> Any:
        return key_apart(values)

    @property
    def engine(self) -> Runtime:
        """The core runtime, made once, at first use."""
        if self._engine is None:
            with _making:
                if self._engine is None:
                    self._engine = _runtime.engine(self.runtime, self.api_key)
        return self._engine

    def returning_result(self, wanted: bool = True) -> Self:
        """This component with ``return_result`` as wanted, on the same runtime."""
        if self.return_result == wanted:
            return self
        _ = self.engine  # a copy shares the runtime that is there, and would make one of its own for each call
        return self.model_copy(update={"return_result": wanted})

    def __getstate__(self) -> dict[Any, Any]:
        """What is pickled: a runtime's sessions and locks are not, so it is made again where it is loaded."""
        state = super().__getstate__()
        held = state.get("__pydantic_private__")
        return state if held is None else {**state, "__pydantic_private__": {**held, "_engine": None}}

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Self:
        """A copy on the same runtime."""
        return self.model_copy(update=deepcopy({n: v for n, v in self.__dict__.items() if n != "runtime"}, memo))

    def with_retry(self, *args: Any, **kwargs: Any) -> Runnable[Any, Any]:
        """As LangChain's. Where this component raises no errors (``on_error``) there is an InvalidInput."""
        self._check_that_it_raises("with_retry()")
        return super().with_retry(*args, **kwargs)

    def with_fallbacks(self, *args: Any, **kwargs: Any) -> RunnableWithFallbacks[Any, Any]:
        """Like :meth:`with_retry`."""
        self._check_that_it_raises("with_fallbacks()")
        return super().with_fallbacks(*args, **kwargs)

    @property
    def _raises(self) -> bool:
        # Where an answer exists already, it must not be lost with its verdict.
        return self.on_error == "raise" or (self.on_error is None and not TABLE[self.intrinsic].judges_answers)

    def _check_that_it_raises(self, what: str) -> None:
        if not self._raises:
            name = type(self).__name__
            raise InvalidInput(f"{what} acts on errors, and this {name} returns a substitute in their place",
                               intrinsic=self.intrinsic, expected=f'{name}(on_error="raise")',
                               got=f"on_error={self.on_error!r}")  # fmt: skip

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Run it.

        Raises:
            IntrinsicsError: see `intrinsics_core.protocol.errors`; bad input is an InvalidInput that names the field.
        """
        return self._call_with_config(self._run, input, config, **kwargs)

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Like :meth:`invoke`, without ever blocking the event loop."""
        return await self._acall_with_config(self._arun, input, config, **kwargs)

    def _ask(self, given: ChainInput, **more: Any) -> Call[Any]:
        """The call of the core."""
        settings = more | {name: getattr(self, name) for name in ("date", *self._options)}
        settings["on_error"] = self.on_error or ("raise" if self._raises else "fallback")
        return INTRINSICS[self.intrinsic](given.messages, given.passages, **settings)

    @abstractmethod
    def _tell(self, value: Any, given: ChainInput, result: Any) -> Any:
        """The result in LangChain's types. ``value`` is the input as it came."""

    def _run(self, value: Any) -> Any:
        do: Any = {"judge": self._result, "call": lambda call: call[0].invoke(call[1])}
        return run_steps(self._steps(kept(value)), do)

    async def _arun(self, value: Any) -> Any:
        do: Any = {"judge": self._aresult, "call": lambda call: call[0].ainvoke(call[1])}
        return await arun_steps(self._steps(kept(value)), do)

    def _steps(self, value: Any) -> Steps[Any]:
        """The output for an input. Its steps: ``"judge"``, given an input, and ``"call"``, a Runnable and its input."""
        given = self._read(value)
        if (nothing := self._without_asking(given)) is not None:
            return nothing
        return self._output(value, given, (yield "judge", given))

    def _read(self, value: Any) -> ChainInput:
        return read(value, self.intrinsic, self.metadata_fields)

    def _without_asking(self, given: ChainInput) -> Any:
        """The answer where it is a canned one, of which no judge has anything to say, else None."""
        judges = TABLE[self.intrinsic].judges_answers and not self.return_result
        return given.answer if judges and is_canned(given.answer) else None

    def _result(self, given: ChainInput) -> Any:
        return run(self._ask(given), self.engine, profile=self.profile)

    async def _aresult(self, given: ChainInput) -> Any:
        return await arun(self._ask(given), self.engine, profile=self.profile)

    def _output(self, value: Any, given: ChainInput, result: Result) -> Any:
        return result if self.return_result else self._tell(value, given, result)


def as_open(chunk: AIMessageChunk) -> AIMessageChunk:
    """The chunk, not as the last: the verdict follows."""
    return chunk if chunk.chunk_position is None else chunk.model_copy(update={"chunk_position": None})


class StreamingIntrinsic(Intrinsic, ABC):
    """One that passes on what streams through it."""

    @abstractmethod
    def _streamed(self) -> Steps[None]:
        """What goes out of the pieces that come in. Its further steps are ``"judge"``; ``"hear"``, given a checker and
        a text; and ``"route"``, given the iterators of a route's chunks, synchronous and not.
        """

    def stream(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Iterator[Any]:
        yield from self.transform(iter([input]), config, **kwargs)

    def transform(self, input: Iterator[Any], config: RunnableConfig | None = None, **kwargs: Any) -> Iterator[Any]:
        do: Any = {"judge": self._result, "hear": lambda heard: heard[0].feed(heard[1]),
                   "route": lambda chunks: next(chunks[0], ENDED)}  # fmt: skip
        passed = lambda pieces: stream_steps(self._streamed(), pieces, do)  # noqa: E731
        yield from self._transform_stream_with_config(input, passed, config, **kwargs)

    async def astream(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> AsyncIterator[Any]:
        async def single() -> AsyncIterator[Any]:
            yield input

        async for chunk in self.atransform(single(), config, **kwargs):
            yield chunk

    async def atransform(
        self, input: AsyncIterator[Any], config: RunnableConfig | None = None, **kwargs: Any
    ) -> AsyncIterator[Any]:
        do: Any = {"judge": self._aresult, "hear": lambda heard: heard[0].afeed(heard[1]),
                   "route": lambda chunks: anext(chunks[1], ENDED)}  # fmt: skip
        passed = lambda pieces: astream_steps(self._streamed(), pieces, do)  # noqa: E731
        async for chunk in self._atransform_stream_with_config(input, passed, config, **kwargs):
            yield chunk
