"""Where the work is done: ``runtime=`` as people write it, made a runtime of the core when first needed.

Components that were given the same runtime share it, also after their pipeline was saved and loaded: equal configs that
meet before any of them was used are one runtime, and so is one chat generator, whoever asks for it.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Callable, Hashable, Mapping
from typing import Any
from weakref import WeakValueDictionary

from haystack.core.errors import SerializationError
from haystack.core.serialization import component_to_dict
from haystack.utils import Secret
from haystack_integrations.common.rag_intrinsics.chat_generator import ChatGeneratorRuntime

from intrinsics_core import Runtime, as_runtime, runtimes
from intrinsics_core.running import Lock

# The environment variable that a saved config names in the place of a key that was given as itself.
API_KEY = "RAG_INTRINSICS_API_KEY"


class Engine:
    """A component's hold on a runtime: made at the first call or by :meth:`warm_up`, made again after :meth:`close`.

    Args:
        spec: a core runtime, a config such as ``{"kind": "server", "base_url": ...}`` or its kind alone
            (``"embedded"``), a chat generator, None for the embedded encoder, or another Engine, whose runtime is then
            shared.
        saved: the spec as it was saved, where it was loaded from that.

    What was made here (of a config or a chat generator) is closed when the last component that used it is closed; a
    runtime of the caller's is left open.

    Raises:
        InvalidInput: the spec names what there is not; the message has the nearest name.
    """

    def __init__(self, spec: Any, saved: Any = None) -> None:
        if not isinstance(spec, Engine):
            _check(spec)
        self._shared: _Shared = spec._shared if isinstance(spec, Engine) else _shared(_without_plain_key(spec), saved)
        self.holds = False  # kept by what is shared, under its lock
        self._warm = False

    def __reduce__(self) -> tuple[Any, ...]:
        return Engine, (self.spec,)  # in another process, a runtime of its own

    @property
    def spec(self) -> Any:
        return self._shared.spec

    @property
    def runtime(self) -> Runtime:
        return self._shared.held_by(self)

    @property
    def is_made(self) -> bool:
        """Whether this component has a runtime now."""
        return self.holds

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
        self._warm = False
        return self._shared.released_by(self)

    def to_dict(self) -> Any:
        """The spec as plain values, without a key.

        Raises:
            SerializationError: it is a runtime object, which has no plain form; a config has.
        """
        spec = self.spec
        if spec is None or isinstance(spec, str):
            return spec
        if isinstance(spec, Mapping):
            return _with_secrets(spec, _saved)
        if isinstance(spec, Runtime) and not hasattr(spec, "to_dict"):
            raise SerializationError(
                f"a {type(spec).__name__} object cannot be saved: give a config, runtime={{'kind': ...}}"
            )
        return component_to_dict(spec, "runtime")


class _Shared:
    """A runtime and how many components hold it."""

    def __init__(self, spec: Any, key: Hashable) -> None:
        self.spec, self.key = spec, key
        self._runtime: Runtime | None = None
        self._holders = 0
        self._lock = Lock()

    def held_by(self, engine: Engine) -> Runtime:
        """The runtime, which is not closed before this component is."""
        with self._lock:
            self._holders += not engine.holds
            engine.holds = True
            if self._runtime is None:
                if not isinstance(self.key, int):
                    # What a config names (a file of calibrations, say) may be another by the time of the next one.
                    _KNOWN.pop(self.key, None)
                self._runtime = _made(self.spec)
            return self._runtime

    def released_by(self, engine: Engine) -> Runtime | None:
        """What is to be closed, if this was the last holder and the runtime was made here."""
        with self._lock:
            if not engine.holds:
                return None
            engine.holds = False
            self._holders -= 1
            if self._holders:
                return None
            made, self._runtime = self._runtime, None
            return None if self.spec is None or isinstance(self.spec, Runtime) else made


_KNOWN: WeakValueDictionary[Hashable, _Shared] = WeakValueDictionary()
_KNOWING = Lock()


def _shared(spec: Any, saved: Any) -> _Shared:
    key = _key(spec if saved is None else saved)
    with _KNOWING:
        found = _KNOWN.get(key)
        if found is None:
            _KNOWN[key] = found = _Shared(spec, key)
        return found


def _key(spec: Any) -> Hashable:
    """What is alike has one key: data by what it says, objects by which they are."""
    if spec is None or isinstance(spec, str):
        return spec
    if isinstance(spec, Mapping):
        try:
            return json.dumps(spec, sort_keys=True, default=_identity)
        except (TypeError, ValueError):  # no plain data after all
            pass
    return id(spec)  # of something that the entry itself keeps alive


def _identity(value: Any) -> Any:
    if not isinstance(value, Secret):
        return id(value)
    named = getattr(value, "_env_vars", None)
    return named or hashlib.sha256(str(value.resolve_value()).encode()).hexdigest()


def _made(spec: Any) -> Runtime:
    if isinstance(spec, Mapping):
        return as_runtime(_with_secrets(spec, lambda key: key.resolve_value()))
    return ChatGeneratorRuntime(spec) if _generates(spec) else as_runtime(spec)


def _generates(spec: Any) -> bool:
    return not isinstance(spec, Runtime) and callable(getattr(spec, "run", None))


def _check(spec: Any) -> None:
    """Whether a runtime can be made of this, as far as names and types tell; keys are left for later."""
    if not _generates(spec):
        runtimes.check(_keyless(spec))


def _keyless(value: Any) -> Any:
    if not isinstance(value, Mapping):
        return value
    return {name: _keyless(held) for name, held in value.items() if name != "api_key"}


def _with_secrets(value: Any, shown: Callable[[Secret], Any]) -> Any:
    """A config with each `Secret` in it, those of configs in it too, in another form."""
    if isinstance(value, Secret):
        return shown(value)
    return {name: _with_secrets(v, shown) for name, v in value.items()} if isinstance(value, Mapping) else value


def _without_plain_key(spec: Any) -> Any:
    """A config whose keys are each a `Secret`, those of configs in it too, so that no repr, dump or trace shows one.

    The caller's own is left alone.
    """
    if not isinstance(spec, Mapping):
        return spec
    return {name: _as_secret(value) if name == "api_key" else _without_plain_key(value) for name, value in spec.items()}


def _as_secret(key: Any) -> Any:
    if isinstance(key, str) and key:
        return Secret.from_token(key)
    return Secret.from_dict(dict(key)) if isinstance(key, Mapping) else key  # a saved Secret is a mapping


def _saved(key: Secret) -> dict[str, Any]:
    named = key if key.type.value == "env_var" else Secret.from_env_var(API_KEY)
    return named.to_dict()
