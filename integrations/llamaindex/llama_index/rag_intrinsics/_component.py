"""The base of the components that LlamaIndex saves: their settings, and one call of the core run on their runtime."""

from __future__ import annotations

import pickle
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Self, TypeVar

from llama_index.core.prompts.mixin import PromptDictType, PromptMixin, PromptMixinType
from llama_index.core.schema import BaseComponent
from pydantic import (
    BeforeValidator,
    ConfigDict,
    Field,
    PrivateAttr,
    SecretStr,
    ValidationError,
    field_serializer,
    model_validator,
)

from intrinsics_core import INTRINSICS, Call, Profile, Runtime, arun, arun_many, as_runtime, run, run_many
from intrinsics_core import profiles as known_profiles
from intrinsics_core import runtimes as known_runtimes
from intrinsics_core.intrinsics import TABLE, Documents, Messages
from intrinsics_core.protocol.names import unknown
from intrinsics_core.runtimes.configs import key_apart, with_key

T = TypeVar("T")


def _several(values: object) -> object:
    if isinstance(values, str):
        return (values,)  # one name, not its letters
    return tuple(values) if isinstance(values, Iterable) else values


Several = BeforeValidator(_several)
"""Of a setting that is one name or several of them: it is then a tuple."""


def check_names(given: Iterable[str], known: Iterable[str], *, called: str) -> None:
    """Raises InvalidInput, with the nearest name, where one is not known. ``called`` is what has these settings."""
    names = list(dict.fromkeys(known))
    for name in given:
        if name not in names:
            raise unknown(f"{called} has no setting of that name", name, names)


def _told(error: ValidationError) -> Exception:
    """Pydantic's error; as ours, with the nearest choice, where a value is none of those that a setting takes."""
    for found in error.errors():
        if found["type"] in ("literal_error", "enum"):
            known = re.findall(r"'([^']*)'", str(found.get("ctx", {}).get("expected")))
            return unknown(f"{'.'.join(map(str, found['loc']))} is unknown", found["input"], known)
    return error


class NoPrompts:
    """Has no prompts of its own: they are the profile's, and are not edited one by one."""

    def _get_prompts(self) -> PromptDictType:
        return {}

    def _get_prompt_modules(self) -> PromptMixinType:
        return {}

    def _update_prompts(self, prompts_dict: PromptDictType) -> None:
        """There are none."""


class InnerPrompts(NoPrompts, PromptMixin):
    """Reads and changes the prompts of ``_inner`` under the names that they have there.

    Not as a module of its own (``inner:...``): LlamaIndex changes prompts one module deep and no deeper.
    """

    _inner: PromptMixin

    def get_prompts(self) -> PromptDictType:
        return self._inner.get_prompts()

    def update_prompts(self, prompts_dict: PromptDictType) -> None:
        self._inner.update_prompts(prompts_dict)


class RuntimeHolder(BaseComponent):
    """What has a ``runtime``, from which a core runtime is made when it is needed, and anew where it was changed."""

    # Not made when it is set: building a component stays cheap, and no message of pydantic's shows a config.
    runtime: Any = Field(default=None, repr=False)  # whose repr may show a key

    _made: Runtime | None = PrivateAttr(default=None)

    @field_serializer("runtime")
    def _shown_runtime(self, value: Any) -> Any:
        """A config or a name as it is, an object by its class alone: its fields may hold keys."""
        if value is None or isinstance(value, str):
            return value
        return dict(value) if isinstance(value, Mapping) else {"kind": type(value).__name__}

    @property
    def engine(self) -> Runtime:
        """The core runtime behind this component: made at first use, and anew where ``runtime`` was changed."""
        if self._made is None:
            self._made = as_runtime(with_key(self.runtime, getattr(self, "api_key", None)))
        return self._made

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if name in ("runtime", "api_key"):
            self._made = None

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """A copy, with other settings where ``update`` gives some; they are checked as when they are set."""
        copy = super().model_copy(deep=deep)
        changes = dict(update or {})
        for name in sorted(changes, key=lambda name: name != "runtime"):  # which takes the key away, so it is first
            setattr(copy, name, changes[name])
        return copy

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Self:
        memo = {} if memo is None else memo
        memo |= {id(shared): shared for shared in (self.runtime, self._made, getattr(self, "profile", None))}
        return super().__deepcopy__(memo)

    def __getstate__(self) -> dict[str, Any]:
        # LlamaIndex leaves out what cannot be pickled: the copy would then judge with another runtime, unnoticed.
        pickle.dumps(self.runtime)
        settings = super().model_copy()
        settings._made = None
        return super(RuntimeHolder, settings).__getstate__()


class IntrinsicComponent(RuntimeHolder, NoPrompts):
    """Settings of one intrinsic. One that is changed takes effect with the next call; a new ``runtime`` takes no key
    over from the one before. Copies share the runtime, and a pickle holds the settings alone.

    Args:
        runtime: where the work is done: a core runtime, a config such as ``{"kind": "server", "base_url": ...}``, a
            LlamaIndex LLM, or None for the embedded encoder (offline, CPU).
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
            raise _told(error) from None
        self._check(self.runtime, self.profile, self.on_error)

    @classmethod
    def class_name(cls) -> str:
        return cls.__name__

    @model_validator(mode="before")
    @classmethod
    def _key_apart(cls, values: Any) -> Any:
        return key_apart(values)

    @field_serializer("profile")
    def _shown_profile(self, value: Any) -> Any:
        return value.name if isinstance(value, Profile) else value

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith("_"):
            return super().__setattr__(name, value)
        check_names([name], type(self).model_fields, called=self.class_name())
        if name == "runtime":
            apart = key_apart({name: value})
            value = apart[name]
        given = {kept: getattr(self, kept) for kept in ("runtime", "profile", "on_error")}
        self._check(**given | ({name: value} if name in given else {}))
        if name == "runtime":
            self.api_key = apart.get("api_key")  # that of the runtime before is not sent to this one
        try:
            super().__setattr__(name, value)
        except ValidationError as error:
            raise _told(error) from None

    def _check(self, runtime: Any, profile: Any, on_error: str) -> None:
        """Not a validator's work: pydantic would wrap the error, and show the settings beside it."""
        TABLE[self.intrinsic].chosen(on_error)
        known_profiles.check(profile)
        known_runtimes.check(runtime)

    def _result(self, call: Call[T]) -> T:
        return run(call, self.engine, profile=self.profile)

    async def _aresult(self, call: Call[T]) -> T:
        return await arun(call, self.engine, profile=self.profile)

    def _results(self, calls: Sequence[Call[Any]]) -> list[Any]:
        return run_many(calls, self.engine, profile=self.profile)

    async def _aresults(self, calls: Sequence[Call[Any]]) -> list[Any]:
        return await arun_many(calls, self.engine, profile=self.profile)

    def _ask(self, messages: Messages, documents: Documents, **options: Any) -> Call[Any]:
        """The call of the core on these settings."""
        how = {name: getattr(self, name) for name in ("on_error", "date", *self._options)}
        return INTRINSICS[self.intrinsic](messages, documents, **how, **options)
