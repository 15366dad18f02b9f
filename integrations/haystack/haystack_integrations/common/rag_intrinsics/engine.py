"""Where the work is done: ``runtime=`` as people write it, made a runtime of the core when first needed."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from haystack.core.errors import SerializationError
from haystack.core.serialization import component_to_dict
from haystack.utils import Secret
from haystack_integrations.common.rag_intrinsics.chat_generator import ChatGeneratorRuntime

from intrinsics_core import Runtime, as_runtime
from intrinsics_core.forks import Lock

# The environment variable that a saved config names in the place of a key that was given as itself.
API_KEY = "RAG_INTRINSICS_API_KEY"


class Engine:
    """A runtime to be: made at the first call or by :meth:`warm_up`, made again after :meth:`close`.

    Args:
        spec: a core runtime, a config such as ``{"kind": "server", "base_url": ...}``, a chat generator, None for the
            embedded encoder, or another Engine, which is then shared.

    What was made here (of a config or a chat generator) is closed here; a runtime of the caller's is left open.
    """

    def __init__(self, spec: Any) -> None:
        self.spec = _without_plain_key(spec)
        self._runtime: Runtime | None = None
        self._warm = False
        self._making = Lock()

    def __reduce__(self) -> tuple[Any, ...]:
        return Engine, (self.spec,)  # a copy, or another process, makes a runtime of its own

    @classmethod
    def of(cls, spec: Any) -> Engine:
        return spec if isinstance(spec, Engine) else cls(spec)

    @property
    def runtime(self) -> Runtime:
        with self._making:
            if self._runtime is None:
                self._runtime = _made(self.spec)
            return self._runtime

    def warm_up(self) -> None:
        """Load what the first call would load."""
        if not self._warm:
            self.runtime.warm_up()
            self._warm = True

    async def warm_up_async(self) -> None:
        """Like :meth:`warm_up`, without blocking the event loop."""
        if not self._warm:
            runtime = await asyncio.to_thread(lambda: self.runtime)
            await runtime.awarm_up()
            self._warm = True

    def close(self) -> None:
        if (made := self._let_go()) is not None:
            made.close()

    async def close_async(self) -> None:
        if (made := self._let_go()) is not None:
            await made.aclose()

    def _let_go(self) -> Runtime | None:
        made, self._runtime, self._warm = self._runtime, None, False
        return None if self.spec is None or isinstance(self.spec, Runtime) else made

    def to_dict(self) -> Any:
        """The spec as plain values, without a key.

        Raises:
            SerializationError: it is a runtime object, which has no plain form; a config has.
        """
        if self.spec is None:
            return None
        if isinstance(self.spec, Mapping):
            return {name: _plain(value) for name, value in self.spec.items()}
        if isinstance(self.spec, Runtime) and not hasattr(self.spec, "to_dict"):
            raise SerializationError(
                f"a {type(self.spec).__name__} object cannot be saved: give a config, runtime={{'kind': ...}}"
            )
        return component_to_dict(self.spec, "runtime")


def _made(spec: Any) -> Runtime:
    if isinstance(spec, Mapping):
        return as_runtime({name: v.resolve_value() if isinstance(v, Secret) else v for name, v in spec.items()})
    if not isinstance(spec, Runtime) and callable(getattr(spec, "run", None)):
        return ChatGeneratorRuntime(spec)
    return as_runtime(spec)


def _without_plain_key(spec: Any) -> Any:
    """A config whose key is a `Secret`, so that no repr, dump or trace shows it; the caller's own is left alone."""
    if not isinstance(spec, Mapping):
        return spec
    key = spec.get("api_key")
    if isinstance(key, str) and key:
        return {**spec, "api_key": Secret.from_token(key)}
    if isinstance(key, Mapping):  # a saved Secret
        return {**spec, "api_key": Secret.from_dict(dict(key))}
    return dict(spec)


def _plain(value: Any) -> Any:
    if isinstance(value, Secret):
        named = value if value.type.value == "env_var" else Secret.from_env_var(API_KEY)
        return named.to_dict()
    return value
