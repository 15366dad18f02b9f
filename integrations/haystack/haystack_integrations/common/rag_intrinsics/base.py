"""The base of every component: read the inputs, run one call of the core, say it in Haystack's types."""

from __future__ import annotations

import asyncio
import inspect
import math
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import Any, ClassVar, Self, TypeVar

from haystack import default_from_dict, default_to_dict
from haystack.dataclasses import ChatMessage
from haystack_integrations.common.rag_intrinsics.engine import Engine, engine_of, with_engine
from haystack_integrations.common.rag_intrinsics.pipeline_input import PipelineInput, as_replies, read

from intrinsics_core import (
    Call,
    IntrinsicsError,
    InvalidInput,
    Profile,
    Runtime,
    arun,
    arun_many,
    profiles,
    run,
    run_many,
)
from intrinsics_core.chains.checks import side_by_side
from intrinsics_core.intrinsics import TABLE
from intrinsics_core.protocol.names import named
from intrinsics_core.running.steps import Steps, arun_steps, run_steps

T = TypeVar("T")
History = list[ChatMessage] | None
Replies = list[str] | list[ChatMessage]
Row = tuple[ChatMessage, PipelineInput]


class Lifecycle:
    """What every component does with its runtime: warm it up, close it, save and load it.

    A subclass keeps each of its constructor's arguments in an attribute of the same name.
    """

    _engine: Engine
    _warm = False

    @property
    def runtime(self) -> Any:
        """The runtime as it was given, a key in it as a `Secret`."""
        return self._engine.spec

    def warm_up(self) -> None:
        """Load the model, or connect, now instead of at the first run. Doing it twice does nothing."""
        if not self._warm:
            self._engine.held_by(self).warm_up()
            self._warm = True

    async def warm_up_async(self) -> None:
        """Like `warm_up`, on the serving event loop."""
        if not self._warm:
            runtime = await asyncio.to_thread(self._engine.held_by, self)
            await runtime.awarm_up()
            self._warm = True

    def close(self) -> None:
        """Give back what the runtime holds. A runtime object of your own is left open."""
        self._warm = False
        if (made := self._engine.released_by(self)) is not None:
            made.close()

    async def close_async(self) -> None:
        """Like `close`, on the serving event loop."""
        self._warm = False
        if (made := self._engine.released_by(self)) is not None:
            await made.aclose()

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_warm": False}

    def to_dict(self) -> dict[str, Any]:
        """Serialize to a dictionary. A key is saved as the name of an environment variable, never as itself."""
        names = [name for name in inspect.signature(type(self).__init__).parameters if name != "self"]
        settings = {name: getattr(self, name) for name in names if name != "runtime"}
        return default_to_dict(self, runtime=self._engine.to_dict(), **settings)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Deserialize from a dictionary."""
        return default_from_dict(cls, with_engine(data))


class Intrinsic(Lifecycle):
    """A component over one intrinsic."""

    intrinsic: ClassVar[str]
    _options: ClassVar[Sequence[str]] = ()  # settings that are arguments of the intrinsic, beside those of all
    on_error: str | None
    meta_fields_to_embed: Sequence[str] = ()

    def __init__(self, runtime: Any = None, *, meta_fields_to_embed: Sequence[str] | None = None,
                 profile: Profile | str | None = None, on_error: str = "raise",
                 date: str | None = None) -> None:  # fmt: skip
        """
        Create a component. Nothing is loaded before `warm_up` or the first run.

        :param runtime: A config (`{"kind": "server", "base_url": ...}`), a chat generator or a runtime; None: embedded.
        :param meta_fields_to_embed: Fields of `meta` that the answering model is shown: the judge is shown them, too.
        :param profile: A profile or its name; the runtime's own where left out.
        :param on_error: `"raise"`, or `"fallback"`: the question as it was, and `result` says that it is degraded.
        :param date: Date text for prompts that carry one; the day of the call where left out.
        """
        # Subclasses call it by the class: `@component` makes theirs anew, and `super()` would not find its way.
        self._engine = engine_of(runtime)
        profiles.check(profile)
        self.profile, self.date = profile, date
        self.on_error = TABLE[self.intrinsic].chosen(on_error)
        self.meta_fields_to_embed = listed("meta_fields_to_embed", meta_fields_to_embed or ())

    def _call(self, given: PipelineInput, **settings: Any) -> Call[Any]:
        own = {name: getattr(self, name) for name in ("on_error", "date", *self._options)}
        call: Call[Any] = TABLE[self.intrinsic].function(given.messages, given.passages, **own, **settings)
        return call

    def _read(self, query: str, documents: Any, history: Any, reply: ChatMessage | None = None) -> PipelineInput:
        return read(self.intrinsic, query, documents, history, reply, self.meta_fields_to_embed)

    def _ready(self) -> Runtime:
        with self._patient():
            self.warm_up()
        return self._engine.held_by(self)

    async def _aready(self) -> Runtime:
        with self._patient():
            await self.warm_up_async()
        return self._engine.held_by(self)

    def _patient(self) -> AbstractContextManager[None]:
        # Where a failure is put up with, one of warming up is too: the call meets it again, and says so in its result.
        return nullcontext() if self.on_error == "raise" else suppress(IntrinsicsError)

    def _result(self, call: Call[T]) -> T:
        return run(call, self._ready(), profile=self.profile)

    async def _aresult(self, call: Call[T]) -> T:
        return await arun(call, await self._aready(), profile=self.profile)

    def _outcomes(self, calls: Sequence[Call[T] | IntrinsicsError]) -> list[T | IntrinsicsError]:
        return run_many(calls, self._ready(), profile=self.profile)

    async def _aoutcomes(self, calls: Sequence[Call[T] | IntrinsicsError]) -> list[T | IntrinsicsError]:
        return await arun_many(calls, await self._aready(), profile=self.profile)


class ReplyIntrinsic(Intrinsic):
    """A component that judges replies: they come out again as copies, each with its verdicts in ``meta``."""

    def _judging(self, reply: ChatMessage, given: PipelineInput) -> Steps[Any]:
        """What judges one reply. Its steps are ``"run"`` with a list of calls, answered by `run_many`."""
        raise NotImplementedError

    def _judged(self, rows: Sequence[Row]) -> list[Any]:
        programs = [self._judging(*row) for row in rows]
        return run_steps(side_by_side(programs), {"run": self._outcomes})

    async def _ajudged(self, rows: Sequence[Row]) -> list[Any]:
        programs = [self._judging(*row) for row in rows]
        return await arun_steps(side_by_side(programs), {"run": self._aoutcomes})

    def _rows(self, query: str, replies: Any, documents: Any, history: Any) -> list[Row]:
        found = as_replies(replies, self.intrinsic)
        return [(reply, self._read(query, documents, history, reply)) for reply in found]


def checked_threshold(value: float | None, intrinsic: str) -> float | None:
    """A least score as it was given.

    Raises:
        InvalidInput: it is no number; nothing is at least NaN, so that every document would be dropped.
    """
    if value is not None and not (isinstance(value, int | float) and math.isfinite(value)):
        raise InvalidInput("score_threshold is no number", intrinsic=intrinsic, expected="a finite number, or None",
                           got=repr(value))  # fmt: skip
    return value


def listed(name: str, values: str | Sequence[str], allowed: Sequence[str] | None = None) -> list[str]:
    """Names as a list; one alone is not its letters.

    Raises:
        InvalidInput: one is no text, or none of those that are allowed.
    """
    found = [values] if isinstance(values, str) else list(values)
    if allowed is not None:
        return [named(name, value, allowed) for value in found]
    for value in found:
        if not isinstance(value, str):
            raise InvalidInput(f"{name} has a value of the wrong type", expected="text", got=repr(value))
    return found
