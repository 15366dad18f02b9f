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
    return as_runtime(_chat_model(spec) if isinstance(spec, str) and spec != EMBEDDED else spec)


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

        return init_chat_model(name)
    except (ValueError, ImportError) as error:  # no such provider, or a package is not installed
        raise InvalidInput(f"runtime={name!r} names no chat model: {error}",
                           expected='"embedded", a chat model, or its name as "provider:model", for which LangChain '
                           'needs the extra "langchain-rag-intrinsics[agents]"') from error  # fmt: skip
