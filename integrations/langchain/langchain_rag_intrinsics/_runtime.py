"""Where the work is done: ``runtime=`` as people write it, made a runtime of the core."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from langchain_core.runnables import Runnable
from pydantic import BeforeValidator, SecretStr

from intrinsics_core import Runtime, as_runtime
from langchain_rag_intrinsics.chat_model import ChatModelRuntime


def _guarded(value: Any) -> Any:
    """A config with its key wrapped, so that no repr, dump or trace can show it."""
    if isinstance(value, Mapping) and isinstance(value.get("api_key"), str):
        return {**value, "api_key": SecretStr(value["api_key"])}
    return value


# Runtime | config | chat model | None. Resolved at the first call: a config error must not carry the config in
# pydantic's message, and building a component must stay cheap.
RuntimeLike = Annotated[Any, BeforeValidator(_guarded)]


def engine(spec: Any) -> Runtime:
    """A core runtime from a core runtime, a config, a chat model (or any Runnable over one), or None.

    Raises:
        InvalidInput: it is none of these.
    """
    if isinstance(spec, Runnable):
        return ChatModelRuntime(spec)
    if isinstance(spec, Mapping):
        spec = {key: v.get_secret_value() if isinstance(v, SecretStr) else v for key, v in spec.items()}
    return as_runtime(spec)


def secrets(spec: Any) -> dict[str, str]:
    """What LangChain's serialisation must replace, and the name that `load` looks it up under."""
    return {"runtime.api_key": "RAG_INTRINSICS_API_KEY"} if isinstance(spec, Mapping) and "api_key" in spec else {}
