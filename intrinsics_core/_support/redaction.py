"""What of a config and of the environment must not be shown, and taking it out of a text.

Runtimes keep their own keys from their own words. What a server, a file or another library says may repeat one, and
passes through here before it is written anywhere.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import pairwise
from os import environ
from typing import Any
from urllib.parse import unquote, urlsplit, urlunsplit

# The last part of a word: "apiKey" and "hf_token" are secrets, "tokenizer" and "author" are not.
SECRET = re.compile(
    r"(?:key|token|secret|passw(?:or)?d|passphrase|credential|cookie|auth|authorization|bearer)s?(?-i:(?![a-z]))",
    re.IGNORECASE,
)
_SHORTEST_SECRET = 6  # characters; hiding shorter ones would black out ordinary words
# Variables that hold keys which this library and what it stands on send to servers.
_VARIABLES = ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "HF_TOKEN", "HUGGING_FACE_HUB_TOKEN")
_DRAWN = re.compile(r"[\w.~%-]{16,512}")  # and a letter and a digit in it: see `_looks_drawn`


def _looks_drawn(part: str) -> bool:
    """Whether a part of a path looks drawn by chance, and so like a key: long, of letters and digits."""
    kinds = {"letter" if c.isalpha() else "digit" for c in part if c.isascii() and c.isalnum()}
    return len(kinds) == 2 and _DRAWN.fullmatch(part) is not None


def secrets(config: Any) -> set[str]:
    """All texts of a config that must not be shown, and the keys in the environment."""
    return _secrets(config) | {key for name in _VARIABLES if len(key := environ.get(name, "")) >= _SHORTEST_SECRET}


def path_secrets(address: str) -> set[str]:
    """Parts of an address's path that look like keys."""
    try:
        parts = urlsplit(address).path.split("/")
    except ValueError:
        return set()
    found = {part for part in parts if _looks_drawn(part)}
    found |= {after for before, after in pairwise(parts)
              if SECRET.fullmatch(before) and len(after) >= _SHORTEST_SECRET}  # fmt: skip
    return found | {unquote(part) for part in found}


def origins(config: Any) -> set[str]:
    """Scheme, host and port of each server in a config: clients of a service have no business with its servers."""
    if not isinstance(config, Mapping):
        return set()
    inner = {origin for value in config.values() for origin in origins(value)}
    address = urlsplit(str(config.get("base_url") or ""))
    return inner | ({f"{address.scheme}://{address.netloc}"} if address.netloc else set())


def shown(address: str) -> str:
    """The address without its query, where people put keys, and with ``***`` for a key in its path."""
    return hide(urlunsplit(urlsplit(address)._replace(query="", fragment="")), path_secrets(address))


def _secrets(value: Any, *, inside: bool = False) -> set[str]:
    if hasattr(value, "get_secret_value"):
        return _secrets(value.get_secret_value(), inside=True)
    if isinstance(value, Mapping):
        return {s for k, v in value.items() for s in _secrets(v, inside=inside or bool(SECRET.search(str(k))))}
    if isinstance(value, list):
        return {s for item in value for s in _secrets(item, inside=inside)}
    if isinstance(value, str):
        if inside:
            return {value} if len(value) >= _SHORTEST_SECRET else set()
        user = re.search(r"://([^/@\s]+)@", value)
        query = re.findall(r"[?&][^=?&\s]+=([^&#\s]+)", value) if "://" in value else []
        path = path_secrets(value) if "://" in value else ()
        found = {*query, *path, *((user.group(1), *user.group(1).split(":")) if user else ())}
        return {secret for secret in found if len(secret) >= _SHORTEST_SECRET}
    return set()


def hide(text: str, hidden: set[str]) -> str:
    for secret in sorted(hidden, key=len, reverse=True):
        text = text.replace(secret, "***")
    return text
