"""The base of the components that LlamaIndex saves: their settings, and one call of the core run on their runtime."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Self, TypeVar

from llama_index.core.schema import BaseComponent
from llama_index.rag_intrinsics import _runtime
from llama_index.rag_intrinsics._prompts import NoPrompts
from llama_index.rag_intrinsics._settings import check_names, wrong_choice
from pydantic import ConfigDict, Field, PrivateAttr, SecretStr, ValidationError, field_serializer, model_validator

from intrinsics_core import INTRINSICS, Call, IntrinsicsError, Profile, Runtime, arun, run
from intrinsics_core.intrinsics import TABLE, Documents, Messages
from intrinsics_core.runtimes.configs import key_apart

T = TypeVar("T")


class RuntimeHolder(BaseComponent):
    """What has a ``runtime``, from which a core runtime is made when it is needed, and anew where it was changed."""

    # Not made when it is set: building a component stays cheap, and no message of pydantic's shows a config.
    runtime: Any = None

    _made: _runtime.Made | None = PrivateAttr(default=None)

    @field_serializer("runtime")
    def _shown_runtime(self, value: Any) -> Any:
        return _runtime.shown(value)

    def _engine(self, api_key: SecretStr | None = None) -> Runtime:
        if self._made is None or not self._made.fits(self.runtime, api_key):
            self._made = _runtime.Made.of(self.runtime, api_key)
        return self._made.engine

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """A copy, with other settings where ``update`` gives some; they are checked as when they are set."""
        copy = super().model_copy(deep=deep)
        changes = dict(update or {})
        for name in sorted(changes, key=lambda name: name != "runtime"):  # which takes the key away, so it is first
            setattr(copy, name, changes[name])
        return copy

    @classmethod
    def class_name(cls) -> str:
        return cls.__name__


class IntrinsicComponent(RuntimeHolder, NoPrompts):
    """Settings of one intrinsic. One that is changed takes effect with the next call; a new ``runtime`` takes no key
    over from the one before. Copies share the runtime, and a pickle holds the settings alone.

    Args:
        runtime: where the work is done: a core runtime, a config such as ``{"kind": "server", "base_url": ...}``, a
            LlamaIndex LLM, a name (``"embedded"``, or one that LlamaIndex resolves), or None for the embedded encoder
            (offline, CPU).
        api_key: the key for a runtime config; one inside the config is moved here. It is never dumped: give it again
            when loading, ``from_dict(data, api_key=...)``.
        profile: a profile or its name; the runtime's own where left out.
        on_error: ``"raise"``, or ``"fallback"`` where the intrinsic has one; then the result says that it is degraded.
        date: date text for prompts that carry one; the day of the call where left out.

    Raises:
        InvalidInput: there is no such setting, a choice is none of those allowed, or ``runtime`` or ``profile`` names
            what there is not; the message has the nearest name.
    """

    model_config = ConfigDict(
        arbitrary_types_allowed=True, extra="forbid", hide_input_in_errors=True, validate_assignment=True
    )

    intrinsic: ClassVar[str]
    _options: ClassVar[Sequence[str]] = ()  # settings that are arguments of the intrinsic, beside those of all

    api_key: SecretStr | None = Field(default=None, exclude=True, repr=False)
    profile: Any = None
    on_error: str = "raise"
    date: str | None = None

    def __init__(self, **settings: Any) -> None:
        check_names(settings, type(self).model_fields, called=self.class_name())
        try:
            super().__init__(**settings)
        except ValidationError as error:
            raise wrong_choice(error) or error from None
        # Not a validator's work: pydantic would wrap the error, and show the settings beside it.
        TABLE[self.intrinsic].chosen(self.on_error)
        _runtime.check(self.runtime, self.profile)

    @model_validator(mode="before")
    @classmethod
    def _key_apart(cls, values: Any) -> Any:
        return key_apart(values)

    @field_serializer("profile")
    def _shown_profile(self, value: Any) -> Any:
        return value.name if isinstance(value, Profile) else value

    def __repr_args__(self) -> Iterable[tuple[str | None, Any]]:
        for name, value in super().__repr_args__():
            yield name, _runtime.shown(value) if name == "runtime" else value

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "runtime":
            apart = key_apart({name: value})
            value = apart[name]
            _runtime.check(value, self.profile)
            self.api_key = apart.get("api_key")  # that of the runtime before is not sent to this one
        elif name == "profile":
            _runtime.check(self.runtime, value)
        elif name == "on_error":
            TABLE[self.intrinsic].chosen(value)
        elif not name.startswith("_"):
            check_names([name], type(self).model_fields, called=self.class_name())
        try:
            super().__setattr__(name, value)
        except ValidationError as error:
            raise wrong_choice(error) or error from None

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Self:
        memo = {} if memo is None else memo
        memo |= {id(shared): shared for shared in (*_runtime.clients(self.runtime), self.profile)}
        return super().__deepcopy__(memo)

    def __getstate__(self) -> dict[str, Any]:
        # LlamaIndex leaves out what cannot be pickled: the copy would then judge with another runtime, unnoticed.
        pickle.dumps(self.runtime)
        return super().__getstate__()

    @property
    def engine(self) -> Runtime:
        """The core runtime behind this component: made at first use, and anew where ``runtime`` was changed."""
        return self._engine(self.api_key)

    def _result(self, call: Call[T]) -> T:
        return run(call, self.engine, profile=self.profile)

    async def _aresult(self, call: Call[T]) -> T:
        return await arun(call, self.engine, profile=self.profile)

    def _ask(self, messages: Messages, documents: Documents, of: str | None = None, **options: Any) -> Call[Any]:
        """The call of the core: this component's intrinsic, or another one on the same settings."""
        how = {name: getattr(self, name) for name in ("on_error", "date", *self._options)}
        return INTRINSICS[of or self.intrinsic](messages, documents, **how, **options)


def settled(call: Call[T], result: T | IntrinsicsError) -> T:
    """What comes of one call of many: its result, or its fallback where it failed.

    Raises:
        IntrinsicsError: it failed, and has no fallback.
    """
    if not isinstance(result, IntrinsicsError):
        return result
    if call.fallback is None:
        raise result
    return call.fallback(call.task, f"{type(result).__name__}: {result}")
