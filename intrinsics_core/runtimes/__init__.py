"""Runtimes: where requests are answered. A config's ``kind`` names one; each is imported when first used."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from intrinsics_core.errors import InvalidInput
from intrinsics_core.runtimes.base import AsyncRuntime, BlockingRuntime, Runtime
from intrinsics_core.runtimes.configs import KINDS, Config

if TYPE_CHECKING:
    from intrinsics_core.runtimes.mixed import Mixed

__all__ = ["AsyncRuntime", "BlockingRuntime", "Config", "Runtime", "as_runtime", "register"]


def as_runtime(spec: Runtime | Config | Mapping[str, Any] | None) -> Runtime:
    """A runtime from a runtime, a config, or None (the embedded default, made once per process).

    Raises:
        InvalidInput: the config names no known kind, or has a key that kind does not take.
    """
    if spec is None:
        return _default()
    if isinstance(spec, Runtime):
        return spec
    if not isinstance(spec, Config | Mapping):
        raise InvalidInput(
            "runtime is neither a runtime nor a config", expected='{"kind": ...}', got=type(spec).__name__
        )
    config = KINDS.parse(spec)
    given = config.given
    calibrations = given.pop("calibrations", None) if config.kind not in _CALIBRATING else None
    runtime: Runtime = _made_by(config.kind)(**given)
    if config.profile is not None:
        runtime.profile = runtime.profile_of(config.profile)
    if calibrations:
        runtime.calibrate_by(calibrations)
    return runtime


def register(config: type[Config], runtime: Callable[..., Runtime] | str) -> None:
    """Add a kind of runtime: configs of its kind are then taken wherever a runtime is.

        class EchoConfig(Config):
            kind: Literal["echo"] = "echo"
            shout: bool = False

        register(EchoConfig, EchoRuntime)

    Args:
        config: its fields are the keyword arguments of the runtime.
        runtime: the class, or where it is: ``"package.module:Class"``, imported when first used.

    Raises:
        InvalidInput: the kind is taken, or the config's ``kind`` is no Literal with a default.
    """
    _RUNTIMES[KINDS.add(config)] = runtime


def _mixed(routes: Mapping[str, Any]) -> Mixed:
    from intrinsics_core.runtimes.mixed import Mixed

    made = {}
    for name, route in routes.items():
        try:
            made[name] = as_runtime(route)
        except InvalidInput as error:
            where = f"runtime.routes.{name}: {error.message}"
            raise InvalidInput(where, expected=error.expected, got=error.got) from None
    return Mixed(made)


def _encoders(base: Any = None, **given: Any) -> Runtime:
    from intrinsics_core.runtimes.encoders.engine import EncodersRuntime

    try:
        below = as_runtime(base)
    except InvalidInput as error:
        raise InvalidInput(f"runtime.base: {error.message}", expected=error.expected, got=error.got) from None
    served = given.get("base_url") is not None
    own = {"api_key", "timeout", "max_retries", "concurrency", "base_url"}
    out_of_place = set(given) & ({"backend", "revision", "file_name", "device", "batch_tokens"} if served else own)
    if out_of_place - {"base_url"}:
        raise InvalidInput(f"runtime.{min(out_of_place)} does not go {'with' if served else 'without'} base_url",
                           expected="a model in this process, or one on a server")  # fmt: skip
    if served:
        from intrinsics_core.runtimes.encoders.scoring import ScoringRuntime

        return ScoringRuntime(**given, base=below)
    return EncodersRuntime(**{name: value for name, value in given.items() if name != "base_url"}, base=below)


_CALIBRATING = ("embedded",)  # kinds that put calibrations to work by themselves

# kind -> its class, or where it is.
_RUNTIMES: dict[str, Callable[..., Runtime] | str] = {
    "embedded": "intrinsics_core.runtimes.embedded:EmbeddedRuntime",
    "server": "intrinsics_core.runtimes.server.runtime:ServerRuntime",
    "transformers": "intrinsics_core.runtimes.local.transformers:TransformersRuntime",
    "vllm": "intrinsics_core.runtimes.local.vllm:VllmRuntime",
    "encoders": _encoders,
    "scripted": "intrinsics_core.runtimes.scripted:Scripted",
    "mixed": _mixed,
}


def _made_by(kind: str) -> Callable[..., Runtime]:
    found = _RUNTIMES[kind]
    if callable(found):
        return found
    module, _, name = found.partition(":")
    runtime: Callable[..., Runtime] = getattr(import_module(module), name)
    return runtime


@cache
def _default() -> Runtime:
    return as_runtime({"kind": "embedded"})
