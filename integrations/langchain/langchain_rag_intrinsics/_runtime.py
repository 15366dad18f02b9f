"""Where the work is done: ``runtime=`` as people write it, made a runtime of the core."""

from __future__ import annotations

from typing import Any

from pydantic import SecretStr

from intrinsics_core import InvalidInput, Runtime, as_runtime, profiles, runtimes
from intrinsics_core.protocol.names import nearest, unknown
from intrinsics_core.runtimes.configs import with_key

# The name that `langchain_core.load` looks a saved component's key up under.
API_KEY = "RAG_INTRINSICS_API_KEY"
EMBEDDED = "embedded"


def engine(spec: Any, api_key: SecretStr | None = None) -> Runtime:
    """A core runtime from a core runtime, a config, a chat model (or any Runnable over one), a name, or None.

    A name is ``"embedded"``, or what LangChain's ``init_chat_model`` takes: ``"openai:gpt-4o-mini"``.

    Raises:
        InvalidInput: it is none of these.
    """
    spec = with_key(spec, api_key)
    if isinstance(spec, str):
        spec = None if spec == EMBEDDED else _chat_model(spec)
    return as_runtime(spec)


def check(spec: Any, profile: Any = None) -> None:
    """Whether ``runtime=`` and ``profile=`` name what there is, found out without making a runtime.

    Raises:
        InvalidInput: they do not; the message has the nearest name.
    """
    profiles.check(profile)
    if isinstance(spec, str) and spec != EMBEDDED:
        try:
            _chat_model(spec)
        except InvalidInput:
            raise
        except Exception:
            pass
    else:
        runtimes.check(spec)


def _chat_model(name: str) -> Any:
    if ":" not in name and nearest(name, [EMBEDDED]):
        raise unknown(f"runtime={name!r} is unknown", name, [EMBEDDED], otherwise=', or a chat model: "provider:model"')
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
        raise InvalidInput(f"runtime={name!r} names no chat model: {error}",
                           expected='"embedded", or a chat model as "provider:model"') from error  # fmt: skip
