"""The API key of a runtime config, kept in a field of its own by components whose fields are shown and saved."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import SecretStr

from intrinsics_core.errors import InvalidInput


def key_apart(values: Any) -> Any:
    """Constructor arguments with the key of ``runtime`` as ``api_key``, where no repr, dump or trace shows it."""
    runtime = values.get("runtime") if isinstance(values, Mapping) else None
    if not isinstance(runtime, Mapping) or runtime.get("api_key") is None:
        return values
    config = {name: value for name, value in runtime.items() if name != "api_key"}
    return {**values, "runtime": config, "api_key": runtime["api_key"]}


def with_key(spec: Any, api_key: SecretStr | None) -> Any:
    """What :func:`key_apart` took apart, together again; a spec without a key as it is.

    Raises:
        InvalidInput: there is a key, but no config that takes it.
    """
    if api_key is None:
        return spec
    if not isinstance(spec, Mapping):
        raise InvalidInput("api_key is given without a runtime config that takes it", expected='runtime={"kind": ...}')
    return {**spec, "api_key": api_key.get_secret_value()}
