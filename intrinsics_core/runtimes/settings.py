"""Checks of what a runtime is configured with. Errors name the key and never show a secret."""

from __future__ import annotations

import re
from collections.abc import Mapping
from os import environ
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from pydantic import SecretStr

from intrinsics_core.errors import InvalidInput


def address(value: Any) -> str:
    """An http address; ``/v1`` is added where it has no path."""
    try:
        parts = urlsplit(value if isinstance(value, str) else "")
        fits = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:  # brackets without a pair, or a port that is none
        fits = False
    if not fits:
        raise InvalidInput(
            "runtime.base_url is no address", expected="http://host:port/v1", got=_scheme_and_host(value)
        )
    if parts.username or parts.password:
        raise InvalidInput("runtime.base_url holds a user name or password", expected="the key in api_key alone")
    return urlunsplit(parts._replace(path=parts.path.rstrip("/") or "/v1"))


def _scheme_and_host(value: Any) -> str:
    """What may be shown of a text that is no address: the rest may be a user, a password or a key."""
    if not isinstance(value, str):
        return type(value).__name__
    match = re.match(r"([A-Za-z][A-Za-z0-9+.-]*)://(?:[^/?#]*@)?([\w.-]*)", value)
    if match is None:
        return "text without http:// or https://"
    # A slash or a mark in a password ends what looks like the host before the real one.
    return repr(match[1] + "://" + ("..." if "@" in value[match.end() :] else match[2]))


def shown(address: str) -> str:
    """The address without its query, where people put keys."""
    return urlunsplit(urlsplit(address)._replace(query="", fragment=""))


def secret(value: Any) -> SecretStr | None:
    """From text or an object that keeps it; where there is none, from ``OPENAI_API_KEY``."""
    for reveal in ("get_secret_value", "resolve_value"):
        if hasattr(value, reveal):
            value = getattr(value, reveal)()
    if value is None:
        value = environ.get("OPENAI_API_KEY")
    if value is None:
        return None
    if not isinstance(value, str):
        raise InvalidInput("runtime.api_key is no text", got=type(value).__name__)
    value = value.strip()
    if not value.isascii() or not value.isprintable() or " " in value:
        raise InvalidInput("runtime.api_key cannot be sent", expected="printable ASCII characters without spaces")
    return SecretStr(value) if value else None


def optional_text(name: str, value: Any) -> str | None:
    if value is not None and (not isinstance(value, str) or not value):
        raise InvalidInput(f"runtime.{name} is no name", expected="text", got=repr(value))
    return value


def names(name: str, value: Any) -> dict[str, str]:
    if value is None:
        return {}
    if not isinstance(value, Mapping) or not all(isinstance(x, str) and x for pair in value.items() for x in pair):
        raise InvalidInput(f"runtime.{name} maps no names to names", expected='{"intrinsic": "name"}', got=repr(value))
    return dict(value)


def one_of(name: str, value: Any, options: tuple[str, ...]) -> Any:
    if value not in options:
        raise InvalidInput(f"runtime.{name} is unknown", expected=f"one of {', '.join(options)}", got=repr(value))
    return value


def seconds(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < float("inf"):
        raise InvalidInput(f"runtime.{name} is no time", expected="seconds above 0", got=repr(value))
    return float(value)


def count(name: str, value: Any, *, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise InvalidInput(f"runtime.{name} is no count", expected=f"a whole number from {least}", got=repr(value))
    return value
