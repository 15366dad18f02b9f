"""Where the work is done: ``runtime=`` as people write it, made a runtime of the core when first needed.

Components that were given the same runtime share it, also after their pipeline was saved and loaded: equal configs that
meet before any of them was used are one runtime, and so is one chat generator, whoever asks for it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Hashable, Mapping
from copy import deepcopy
from typing import Any
from weakref import WeakSet, WeakValueDictionary

from haystack import default_from_dict
from haystack.core.errors import SerializationError
from haystack.core.serialization import component_to_dict, generate_qualified_class_name
from haystack.utils import Secret
from haystack_integrations.common.rag_intrinsics.chat_generator import ChatGeneratorRuntime

from intrinsics_core import Runtime, as_runtime, runtimes
from intrinsics_core.running import Lock

API_KEY = "RAG_INTRINSICS_API_KEY"
"""The environment variable that a saved config names in the place of a key that was given as itself."""


class Engine:
    """A runtime, and the components that hold it: made when the first one asks for it, closed with the last one.

    What was made here (of a config or a chat generator) is closed; a runtime of the caller's is left open.
    """

    def __init__(self, spec: Any, key: Hashable) -> None:
        self.spec, self._key = spec, key
        self._runtime: Runtime | None = None
        self._holders: WeakSet[Any] = WeakSet()
        self._lock = Lock()

    def __reduce__(self) -> tuple[Any, ...]:
        return engine_of, (self.spec,)  # in another process, a runtime of its own

    def held_by(self, component: Any) -> Runtime:
        """The runtime, which is not closed before this component is."""
        with self._lock:
            self._holders.add(component)
            if self._runtime is None:
                if not isinstance(self._key, int):
                    # What a config names (a file of calibrations, say) may be another by the time of the next one.
                    _KNOWN.pop(self._key, None)
                self._runtime = _made(self.spec)
            return self._runtime

    def released_by(self, component: Any) -> Runtime | None:
        """What is to be closed, if this was the last holder and the runtime was made here."""
        with self._lock:
            if component not in self._holders:
                return None
            self._holders.discard(component)
            if self._holders:
                return None
            made, self._runtime = self._runtime, None
            return None if self.spec is None or isinstance(self.spec, Runtime) else made

    def to_dict(self) -> Any:
        """The spec as plain values, without a key.

        Raises:
            SerializationError: it is a runtime object, which has no plain form; a config has.
        """
        spec = self.spec
        if spec is None or isinstance(spec, str):
            return spec
        if isinstance(spec, Mapping):
            return _changed(spec, _saved)
        if isinstance(spec, Runtime) and not hasattr(spec, "to_dict"):
            told = f"a {type(spec).__name__} object cannot be saved: give a config, runtime={{'kind': ...}}"
            raise SerializationError(told)
        return component_to_dict(spec, "runtime")


_KNOWN: WeakValueDictionary[Hashable, Engine] = WeakValueDictionary()
_KNOWING = Lock()


def engine_of(spec: Any, saved: Any = None) -> Engine:
    """The engine for what was given as ``runtime=``; one for all that is alike.

    Args:
        spec: a core runtime, a config such as ``{"kind": "server", "base_url": ...}`` or its kind alone
            (``"embedded"``), a chat generator, None for the embedded encoder, or an engine itself.
        saved: the spec as it was saved, where it was loaded from that.

    Raises:
        InvalidInput: the spec names what there is not; the message has the nearest name.
    """
    if isinstance(spec, Engine):
        return spec
    spec = _changed(spec, _as_secret)
    if not _generates(spec):
        runtimes.check(_changed(spec, lambda _, value: "-" if isinstance(value, Secret) else value))
    key = _key(spec if saved is None else saved)
    with _KNOWING:
        found = _KNOWN.get(key)
        if found is None:
            _KNOWN[key] = found = Engine(spec, key)
        return found


def with_engine(data: dict[str, Any]) -> dict[str, Any]:
    """Saved data of a component with its runtime loaded: what was saved with one runtime is loaded with one."""
    given = dict(data.get("init_parameters") or {})
    saved = given.get("runtime")
    if not isinstance(saved, dict):
        return data
    # A copy: generators put what they load into the data that they are given.
    one = {"type": generate_qualified_class_name(_Loaded), "init_parameters": {"runtime": deepcopy(saved)}}
    given["runtime"] = engine_of(default_from_dict(_Loaded, one).runtime, saved)
    return {**data, "init_parameters": given}


class _Loaded:
    """Has Haystack load what a component would hand it: a config as it is, an object as the object."""

    def __init__(self, runtime: Any) -> None:
        self.runtime = runtime


def _key(spec: Any) -> Hashable:
    """What is alike has one key: data by what it says, objects by which they are."""
    if spec is None or isinstance(spec, str):
        return spec
    if isinstance(spec, Mapping):
        try:
            return json.dumps(spec, sort_keys=True, default=_identity)
        except (TypeError, ValueError):  # no plain data after all
            pass
    return id(spec)  # of something that the engine itself keeps alive


def _identity(value: Any) -> Any:
    if not isinstance(value, Secret):
        return id(value)
    named = getattr(value, "_env_vars", None)
    return named or hashlib.sha256(str(value.resolve_value()).encode()).hexdigest()


def _made(spec: Any) -> Runtime:
    if _generates(spec):
        return ChatGeneratorRuntime(spec)
    return as_runtime(_changed(spec, lambda _, value: value.resolve_value() if isinstance(value, Secret) else value))


def _generates(spec: Any) -> bool:
    return not isinstance(spec, Runtime) and callable(getattr(spec, "run", None))


def _changed(value: Any, change: Callable[[str, Any], Any], name: str = "") -> Any:
    """A config with what it holds, and what configs in it hold, changed; the caller's own is left alone."""
    if isinstance(value, Mapping) and name != "api_key":  # a saved Secret is a mapping
        return {key: _changed(held, change, key) for key, held in value.items()}
    return change(name, value)


def _as_secret(name: str, value: Any) -> Any:
    """A key as a `Secret`, so that no repr, dump or trace shows it."""
    if name != "api_key" or not value or not isinstance(value, str | Mapping):
        return value
    return Secret.from_token(value) if isinstance(value, str) else Secret.from_dict(dict(value))


def _saved(_: str, value: Any) -> Any:
    if not isinstance(value, Secret):
        return value
    return (value if value.type.value == "env_var" else Secret.from_env_var(API_KEY)).to_dict()
