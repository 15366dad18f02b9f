"""Runtimes: where requests are answered. A config's ``kind`` names one; each is imported when first used."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from typing import Any

from intrinsics_core import profiles
from intrinsics_core.calibration.loading import CALIBRATED
from intrinsics_core.protocol.errors import InvalidInput, within
from intrinsics_core.protocol.names import keyed
from intrinsics_core.runtimes.adapters import check_names, route_names
from intrinsics_core.runtimes.base import AsyncRuntime, BlockingRuntime, Runtime
from intrinsics_core.runtimes.configs import KINDS, CascadeConfig, Config, EncodersConfig, MixedConfig
from intrinsics_core.runtimes.configured import ConfiguredRuntime

__all__ = [
    "AsyncRuntime",
    "BlockingRuntime",
    "Config",
    "ConfiguredRuntime",
    "Runtime",
    "as_runtime",
    "check",
    "register",
    "register_chat_models",
    "unregister",
]


def as_runtime(spec: object) -> Runtime:
    """A runtime from what is given as ``runtime=``.

    Args:
        spec: a runtime, a config, the kind of a config alone (``"embedded"``), None (the embedded default, made once
            per process), or a chat model of LangChain, LlamaIndex or Haystack. The core knows the chat models of a
            framework once our integration for it is imported. A chat model or a config makes a new runtime at each
            call; make one runtime and pass it on to keep its connections, and what it learns about its model.

    Raises:
        InvalidInput: the config names no known kind, or has a key that kind does not take.
    """
    if spec is None or spec == _EMBEDDED:
        return _default()
    if isinstance(spec, Runtime):
        return spec
    if wrapper := _wrapper(spec):
        return wrapper(spec)
    config = _config(spec)
    make: Any = _made_by(config.kind)
    if isinstance(make, type) and issubclass(make, ConfiguredRuntime):
        return make(config)
    given = config.given
    calibrations = given.pop("calibrations", None) if config.kind not in _CALIBRATING else None
    runtime: Runtime = make(**given)
    if config.profile is not None:
        runtime.profile = runtime.profile_of(config.profile)
    if calibrations:
        runtime.calibrate_by(calibrations)
    return runtime


def check(spec: Any) -> None:
    """Whether :func:`as_runtime` takes this, found out without making it: for components, when they are built.

    Kinds, keys, routes, names of profiles and values that do not fit are found. Models and servers are not looked for.

    Raises:
        InvalidInput: as that function would; the message has the nearest name.
    """
    if _is_without_config(spec):
        return
    config = _config(spec)
    if config.profile is not None:
        profiles.check(config.profile)
    if config.calibrations:
        keyed("calibrations", config.calibrations, CALIBRATED)
    if getattr(config, "adapters", None) and profiles.fixed(config.profile):
        check_names(config.adapters, profiles.profile(config.profile or "prompted"))  # type: ignore[attr-defined]
    if isinstance(config, EncodersConfig):
        check(config.base)
    if isinstance(config, CascadeConfig):
        for name in ("first", "then"):
            with within(f"runtime.{name}"):
                check(getattr(config, name))
    if isinstance(config, MixedConfig):
        _check_routes(config.routes)


def _check_routes(routes: Mapping[str, Any]) -> None:
    for name, route in routes.items():
        with within(f"runtime.routes.{name}"):
            check(route)
    made = [route for route in routes.values() if isinstance(route, Runtime)]
    named = [_config(route) for route in routes.values() if not _is_without_config(route)]
    if all(profiles.fixed(config.profile) for config in named):
        own = [name for runtime in made for name in profiles.own_names(runtime.profile)]
        keyed("runtime.routes", routes, route_names(own))


def _is_without_config(spec: object) -> bool:
    return spec is None or isinstance(spec, Runtime) or _wrapper(spec) is not None


def _config(spec: Any) -> Config:
    if isinstance(spec, str):
        spec = {"kind": spec}
    if not isinstance(spec, Config | Mapping):
        raise InvalidInput("runtime is neither a runtime nor a config", expected=_EXPECTED, got=type(spec).__name__)
    return KINDS.parse(spec)


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


def register_chat_models(is_chat_model: Callable[[Any], bool], runtime: Callable[[Any], Runtime]) -> None:
    """Have the chat models of a framework taken wherever a runtime is. Our integrations do this when they are imported.

    Args:
        is_chat_model: whether an object is a chat model of that framework.
        runtime: makes a runtime of one.
    """
    _WRAPPERS[runtime] = is_chat_model


def _wrapper(spec: object) -> Callable[[Any], Runtime] | None:
    return next((runtime for runtime, is_chat_model in _WRAPPERS.items() if is_chat_model(spec)), None)


def unregister(kind: str) -> None:
    """Forget a kind that was registered: for tests, and for notebooks that register anew.

    Raises:
        InvalidInput: there is no runtime of that kind.
    """
    KINDS.remove(kind)
    del _RUNTIMES[kind]


_EMBEDDED = "embedded"
_EXPECTED = (
    'a config such as {"kind": "embedded"}, or a chat model whose integration is imported: '
    "langchain_rag_intrinsics has ChatModelRuntime(model), llama_index.rag_intrinsics has LLMRuntime(llm), "
    "haystack_integrations.common.rag_intrinsics has ChatGeneratorRuntime(generator)"
)
_WRAPPERS: dict[Callable[[Any], Runtime], Callable[[Any], bool]] = {}  # what wraps chat models, and which ones it wraps
_CALIBRATING = ("embedded",)  # kinds that put calibrations to work by themselves
_RUNTIMES: dict[
    str, Callable[..., Runtime] | str
] = {}  # kind -> what makes it, or where that is: `intrinsics_core.shipped`


def _made_by(kind: str) -> Callable[..., Runtime]:
    found = _RUNTIMES[kind]
    return _imported(found) if isinstance(found, str) else found


def _imported(place: str) -> Callable[..., Runtime]:
    module, _, name = place.partition(":")
    runtime: Callable[..., Runtime] = getattr(import_module(module), name)
    return runtime


@cache
def _default() -> Runtime:
    return as_runtime({"kind": _EMBEDDED})


def __getattr__(name: str) -> Any:
    """The class of a registered kind by its name, imported now: ``from intrinsics_core.runtimes import Scripted``."""
    for place in _RUNTIMES.values():
        if isinstance(place, str) and place.endswith(f":{name}"):
            return _imported(place)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
