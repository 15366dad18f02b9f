"""Runtimes: where requests are answered. A config's ``kind`` names one; each is imported when first used."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import Any

from intrinsics_core.errors import InvalidInput
from intrinsics_core.runtimes.base import AsyncRuntime, BlockingRuntime, Runtime

__all__ = ["AsyncRuntime", "BlockingRuntime", "Runtime", "as_runtime"]

# kind -> module and class. Adding a runtime is adding a file and a line.
_KINDS = {
    "embedded": ("intrinsics_core.runtimes.embedded", "EmbeddedRuntime"),
    "server": ("intrinsics_core.runtimes.server.runtime", "ServerRuntime"),
    "transformers": ("intrinsics_core.runtimes.local.transformers", "TransformersRuntime"),
    "vllm": ("intrinsics_core.runtimes.local.vllm", "VllmRuntime"),
}


def as_runtime(spec: Runtime | Mapping[str, Any] | None) -> Runtime:
    """A runtime from a runtime, a config, or None (the embedded default, made once per process).

    Raises:
        InvalidInput: the config names no known kind, or has a key that kind does not take.
    """
    if spec is None:
        return _default()
    if isinstance(spec, Runtime):
        return spec
    if not isinstance(spec, Mapping):
        raise InvalidInput(
            "runtime is neither a runtime nor a config", expected='{"kind": ...}', got=type(spec).__name__
        )
    config = dict(spec)
    kind = config.pop("kind", None)
    if kind not in _KINDS:
        raise InvalidInput("runtime.kind is unknown", expected=f"one of {', '.join(_KINDS)}", got=repr(kind))
    module, name = _KINDS[kind]
    factory = getattr(import_module(module), name)
    known = inspect.signature(factory).parameters
    if unknown := [key for key in config if key not in known]:
        raise InvalidInput(
            f"runtime config of kind {kind!r} has unknown keys",
            expected=f"some of {', '.join(known)}",
            got=", ".join(map(repr, unknown)),  # keys only: a value may be a secret
        )
    if missing := [k for k, p in known.items() if p.default is p.empty and k not in config]:
        raise InvalidInput(f"runtime config of kind {kind!r} lacks {', '.join(map(repr, missing))}")
    runtime: Runtime = factory(**config)
    return runtime


@cache
def _default() -> Runtime:
    return as_runtime({"kind": "embedded"})
