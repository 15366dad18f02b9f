"""Where the work is done: ``runtime=`` as people write it, made a runtime of the core, and shown without its key."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from llama_index.core.llms import LLM
from llama_index.core.llms.utils import resolve_llm
from pydantic import SecretStr

from intrinsics_core import InvalidInput, Runtime, as_runtime, profiles, runtimes
from intrinsics_core.protocol.names import unknown
from intrinsics_core.runtimes.configs import with_key

EMBEDDED = "embedded"
_UNRESOLVED = "runtime is a name that LlamaIndex does not resolve"
_RESOLVED = ("default", "local")  # what LlamaIndex makes an LLM of; the second has a path behind it: "local:PATH"


def engine(spec: Any, api_key: SecretStr | None) -> Runtime:
    """A core runtime from a core runtime, a config, a LlamaIndex LLM, a name, or None.

    Raises:
        InvalidInput: it is none of these.
    """
    spec = with_key(spec, api_key)
    if isinstance(spec, str):
        spec = None if spec == EMBEDDED else _named(spec)
    return as_runtime(spec)


@dataclass(frozen=True, eq=False)
class Made:
    """An engine, and what it was made of. Copies of a component share it; a pickle leaves it out."""

    spec: Any
    api_key: SecretStr | None
    engine: Runtime

    @classmethod
    def of(cls, spec: Any, api_key: SecretStr | None) -> Made:
        """Made now; raises as :func:`engine` does."""
        return cls(_frozen(spec), api_key, engine(spec, api_key))

    def fits(self, spec: Any, api_key: SecretStr | None) -> bool:
        """Whether it was made of these. A config is told by what is in it, an object by which one it is."""
        if isinstance(spec, Mapping | str):
            return bool(spec == self.spec) and api_key == self.api_key
        return spec is self.spec and api_key == self.api_key

    def __deepcopy__(self, memo: Any) -> Made:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return type(None), ()


def _frozen(spec: Any) -> Any:
    """A config as it is now, however it is written into later."""
    return {key: _frozen(value) for key, value in spec.items()} if isinstance(spec, Mapping) else spec


def clients(spec: Any) -> Iterator[Any]:
    """The runtimes and LLMs in what was given as ``runtime=``: they have connections and limits, and are not copied."""
    if isinstance(spec, Mapping):
        for value in spec.values():
            yield from clients(value)
    elif isinstance(spec, Runtime | LLM):
        yield spec


def check(spec: Any, profile: Any = None) -> None:
    """Whether ``runtime=`` and ``profile=`` name what there is, found out without making a runtime or loading an LLM.

    Raises:
        InvalidInput: they do not; the message has the nearest name.
    """
    profiles.check(profile)
    if isinstance(spec, str):
        if spec != EMBEDDED and spec.partition(":")[0] not in _RESOLVED:
            otherwise = ", a config {'kind': ...}, or an LLM itself, e.g. OpenAI(model='gpt-4o-mini')"
            raise unknown(_UNRESOLVED, spec, (EMBEDDED, *_RESOLVED), otherwise=otherwise)
    else:
        runtimes.check(spec)


def _named(name: str) -> LLM:
    """The LLM of that name, where LlamaIndex resolves it: ``"default"``, ``"local:PATH"``."""
    try:
        return resolve_llm(name)
    except (ImportError, ValueError) as error:
        raise InvalidInput(
            f"{_UNRESOLVED} ({error})",
            expected="'embedded', a config {'kind': ...}, or an LLM itself, e.g. OpenAI(model='gpt-4o-mini')",
            got=repr(name),
        ) from error


def shown(spec: Any) -> Any:
    """The runtime as plain values: a config or a name as it is, an object by its class alone (its fields may hold
    keys).

    A saved object cannot be made again from that; the component that is loaded says so at its first call.
    """
    if spec is None or isinstance(spec, str):
        return spec
    return dict(spec) if isinstance(spec, Mapping) else {"kind": type(spec).__name__}
