"""Where the work is done: ``runtime=`` as people write it, made a runtime of the core."""

from __future__ import annotations

from typing import Any

from langchain_core.runnables import Runnable
from pydantic import SecretStr

from intrinsics_core import InvalidInput, Runtime, as_runtime
from intrinsics_core.runtimes.configs import with_key
from langchain_rag_intrinsics.chat_model import ChatModelRuntime

# The name that `langchain_core.load` looks a saved component's key up under.
API_KEY = "RAG_INTRINSICS_API_KEY"


def engine(spec: Any, api_key: SecretStr | None = None) -> Runtime:
    """A core runtime from a core runtime, a config, a chat model (or any Runnable over one), a name, or None.

    A name is ``"embedded"``, or what LangChain's ``init_chat_model`` takes: ``"openai:gpt-4o-mini"``.

    Raises:
        InvalidInput: it is none of these.
    """
    spec = with_key(spec, api_key)
    if isinstance(spec, str):
        spec = None if spec == "embedded" else _chat_model(spec)
    return ChatModelRuntime(spec) if isinstance(spec, Runnable) else as_runtime(spec)


def _chat_model(name: str) -> Any:
    expected = '"embedded", or a chat model as "provider:model"'
    try:
        from langchain.chat_models import init_chat_model
    except ImportError as error:
        raise InvalidInput(
            f"runtime={name!r} names a chat model, which LangChain's init_chat_model makes",
            expected='pip install "langchain-rag-intrinsics[agents]", or the model itself',
        ) from error
    try:
        return init_chat_model(name)
    except (ValueError, ImportError) as error:  # no such provider, or its package is not installed
        raise InvalidInput(f"runtime={name!r} names no chat model: {error}", expected=expected) from error
