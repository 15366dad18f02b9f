"""Where the work is done: ``runtime=`` as people write it, made a runtime of the core, and shown without its key."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from llama_index.core.llms import LLM
from llama_index.rag_intrinsics.llm import LLMRuntime
from pydantic import SecretStr

from intrinsics_core import InvalidInput, Runtime, as_runtime


def key_apart(values: Any) -> Any:
    """Constructor arguments with the key of a runtime config in a field of its own, which nothing shows."""
    runtime = values.get("runtime") if isinstance(values, Mapping) else None
    if not isinstance(runtime, Mapping) or runtime.get("api_key") is None:
        return values
    config = {name: value for name, value in runtime.items() if name != "api_key"}
    return {**values, "runtime": config, "api_key": runtime["api_key"]}


def engine(spec: Any, api_key: SecretStr | None) -> Runtime:
    """A core runtime from a core runtime, a config, a LlamaIndex LLM, or None.

    Raises:
        InvalidInput: it is none of these.
    """
    if isinstance(spec, Mapping):
        return as_runtime(spec if api_key is None else {**spec, "api_key": api_key.get_secret_value()})
    if api_key is not None:
        raise InvalidInput("api_key is given without a runtime config that takes it", expected='runtime={"kind": ...}')
    return LLMRuntime(spec) if isinstance(spec, LLM) else as_runtime(spec)


def shown(spec: Any) -> Any:
    """The runtime as plain values: a config as it is, an object by its class alone (its fields may hold keys).

    A saved object cannot be made again from that; the component that is loaded says so at its first call.
    """
    return dict(spec) if isinstance(spec, Mapping) else None if spec is None else {"kind": type(spec).__name__}
