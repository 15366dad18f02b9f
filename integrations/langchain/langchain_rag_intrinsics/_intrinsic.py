"""The base of every component: read the input, run one call of the core, say it in LangChain's types."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

from langchain_core.runnables import RunnableConfig, RunnableSerializable
from pydantic import ConfigDict, PrivateAttr, SecretStr, model_validator

from intrinsics_core import Call, Runtime, arun, run
from intrinsics_core.forks import Lock
from intrinsics_core.results import Result
from intrinsics_core.runtimes.configs import key_apart
from langchain_rag_intrinsics import _runtime
from langchain_rag_intrinsics._inputs import Given, read

# One for all components: a lock of a component's own could not be copied or pickled with it.
_making = Lock()


class Intrinsic(RunnableSerializable[Any, Any], ABC):
    """A Runnable over one intrinsic. Its run is a span, and the model calls it causes are spans inside.

    Args:
        runtime: where the work is done: a core runtime, a config such as ``{"kind": "server", "base_url": ...}``, your
            own chat model, or None for the embedded encoder (offline, CPU).
        api_key: the key for a runtime config; one inside the config is moved here. Saved components name it, as
            ``RAG_INTRINSICS_API_KEY``, and do not hold it.
        profile: a profile or its name; the runtime's own where left out.
        on_error: ``"raise"``, or ``"fallback"`` where the intrinsic has one; then the result says that it is degraded.
        date: date text for prompts that carry one; the day of the call where left out.
        return_result: return the core's result object instead of LangChain's types.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid", hide_input_in_errors=True)

    intrinsic: ClassVar[str]

    # Made a runtime at the first call: building a component stays cheap, and no message of pydantic's shows a config.
    runtime: Any = None
    api_key: SecretStr | None = None
    profile: Any = None
    on_error: str = "raise"
    date: str | None = None
    return_result: bool = False

    _engine: Runtime | None = PrivateAttr(default=None)

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
        """The core runtime behind this component, made once, at first use."""
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

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Run it.

        Raises:
            IntrinsicsError: see :mod:`intrinsics_core.errors`; bad input is an InvalidInput that names the field.
        """
        return self._call_with_config(self._run, input, config, **kwargs)

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Like :meth:`invoke`, without ever blocking the event loop."""
        return await self._acall_with_config(self._arun, input, config, **kwargs)

    @abstractmethod
    def _ask(self, given: Given) -> Call[Any]:
        """The call of the core."""

    @abstractmethod
    def _tell(self, value: Any, given: Given, result: Any) -> Any:
        """The result in LangChain's types. ``value`` is the input as it came."""

    def _run(self, value: Any) -> Any:
        given = self._read(value)
        if (nothing := self._without_asking(given)) is not None:
            return nothing
        return self._told(value, given, self._result(given))

    async def _arun(self, value: Any) -> Any:
        given = self._read(value)
        if (nothing := self._without_asking(given)) is not None:
            return nothing
        return self._told(value, given, await self._aresult(given))

    def _read(self, value: Any) -> Given:
        return read(value, self.intrinsic)

    def _without_asking(self, given: Given) -> Any:
        """The output where there is nothing to ask about, else None."""
        return None

    def _result(self, given: Given) -> Any:
        return run(self._ask(given), self.engine, profile=self.profile)

    async def _aresult(self, given: Given) -> Any:
        return await arun(self._ask(given), self.engine, profile=self.profile)

    def _told(self, value: Any, given: Given, result: Result) -> Any:
        return result if self.return_result else self._tell(value, given, result)

    def _settings(self) -> dict[str, Any]:
        """The arguments that every intrinsic function takes."""
        return {"on_error": self.on_error, "date": self.date}
