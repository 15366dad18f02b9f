"""Where the work is done: ``runtime=`` as people write it, made a runtime of the core, and shown without its key."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from llama_index.core.llms import LLM
from llama_index.rag_intrinsics.llm import LLMRuntime
from pydantic import SecretStr

from intrinsics_core import Runtime, as_runtime
from intrinsics_core.runtimes.configs import with_key


def engine(spec: Any, api_key: SecretStr | None) -> Runtime:
    """A core runtime from a core runtime, a config, a LlamaIndex LLM, or None.

    Raises:
        InvalidInput: it is none of these.
    """
    spec = with_key(spec, api_key)
    return LLMRuntime(spec) if isinstance(spec, LLM) else as_runtime(spec)


def shown(spec: Any) -> Any:
    """The runtime as plain values: a config as it is, an object by its class alone (its fields may hold keys).

    A saved object cannot be made again from that; the component that is loaded says so at its first call.
    """
    return dict(spec) if isinstance(spec, Mapping) else None if spec is None else {"kind": type(spec).__name__}
