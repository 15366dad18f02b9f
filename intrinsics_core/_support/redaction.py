"""What of a config must not be shown, and taking it out of a text.

Runtimes keep their own keys from their own words. What a server, a file or another library says may repeat one, and
passes through here before it is written anywhere.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

# The last part of a word: "apiKey" and "hf_token" are secrets, "tokenizer" and "author" are not.
SECRET = re.compile(
    r"(?:key|token|secret|passw(?:or)?d|passphrase|credential|cookie|auth|authorization|bearer)s?(?-i:(?![a-z]))",
    re.IGNORECASE,
)
_SHORTEST_SECRET = 6  # characters; hiding shorter ones would black out ordinary words


def secrets(value: Any, *, inside: bool = False) -> set[str]:
    """All texts of a config that must not be shown."""
    if hasattr(value, "get_secret_value"):
        return secrets(value.get_secret_value(), inside=True)
    if isinstance(value, Mapping):
        return {s for k, v in value.items() for s in secrets(v, inside=inside or bool(SECRET.search(str(k))))}
    if isinstance(value, list):
        return {s for item in value for s in secrets(item, inside=inside)}
    if isinstance(value, str):
        if inside:
            return {value} if len(value) >= _SHORTEST_SECRET else set()
        user = re.search(r"://([^/@\s]+)@", value)
        query = re.findall(r"[?&][^=?&\s]+=([^&#\s]+)", value) if "://" in value else []
        found = {*query, *((user.group(1), *user.group(1).split(":")) if user else ())}
        return {secret for secret in found if len(secret) >= _SHORTEST_SECRET}
    return set()


def hide(text: str, hidden: set[str]) -> str:
    for secret in sorted(hidden, key=len, reverse=True):
        text = text.replace(secret, "***")
    return text
