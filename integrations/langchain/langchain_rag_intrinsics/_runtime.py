"""Where the work is done: ``runtime=`` as people write it, made a runtime of the core."""

from __future__ import annotations

from typing import Any

from langchain_core.runnables import Runnable
from pydantic import SecretStr

from intrinsics_core import Runtime, as_runtime
from intrinsics_core.runtimes.configs import with_key
from langchain_rag_intrinsics.chat_model import ChatModelRuntime

# The name that `langchain_core.load` looks a saved component's key up under.
API_KEY = "RAG_INTRINSICS_API_KEY"


def engine(spec: Any, api_key: SecretStr | None) -> Runtime:
    """A core runtime from a core runtime, a config, a chat model (or any Runnable over one), or None.

    Raises:
        InvalidInput: it is none of these.
    """
    spec = with_key(spec, api_key)
    return ChatModelRuntime(spec) if isinstance(spec, Runnable) else as_runtime(spec)
