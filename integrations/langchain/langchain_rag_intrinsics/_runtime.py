"""Where the work is done: ``runtime=`` as people write it, made a runtime of the core."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langchain_core.runnables import Runnable
from pydantic import SecretStr

from intrinsics_core import InvalidInput, Runtime, as_runtime
from langchain_rag_intrinsics.chat_model import ChatModelRuntime

# The name that `langchain_core.load` looks a saved component's key up under.
API_KEY = "RAG_INTRINSICS_API_KEY"


def key_apart(values: Any) -> Any:
    """Constructor arguments with the key of a runtime config in a field of its own.

    There LangChain's serialisation replaces it, and no repr, dump or trace shows it.
    """
    runtime = values.get("runtime") if isinstance(values, Mapping) else None
    if not isinstance(runtime, Mapping) or runtime.get("api_key") is None:
        return values
    config = {name: value for name, value in runtime.items() if name != "api_key"}
    return {**values, "runtime": config, "api_key": runtime["api_key"]}


def engine(spec: Any, api_key: SecretStr | None) -> Runtime:
    """A core runtime from a core runtime, a config, a chat model (or any Runnable over one), or None.

    Raises:
        InvalidInput: it is none of these.
    """
    if isinstance(spec, Mapping):
        return as_runtime(spec if api_key is None else {**spec, "api_key": api_key.get_secret_value()})
    if api_key is not None:
        raise InvalidInput("api_key is given without a runtime config that takes it", expected='runtime={"kind": ...}')
    return ChatModelRuntime(spec) if isinstance(spec, Runnable) else as_runtime(spec)
