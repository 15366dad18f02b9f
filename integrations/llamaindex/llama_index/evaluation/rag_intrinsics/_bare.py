"""An answer that is nothing but yes or no says something only together with its question."""

from __future__ import annotations

import re

from llama_index.core.schema import QueryBundle

# In the languages that people ask in most; the words alone, or with their punctuation.
_YES = [
    "yes",
    "yeah",
    "yep",
    "ja",
    "oui",
    "si",
    "sí",
    "sim",
    "sì",
    "да",
    "tak",
    "evet",
    "hai",
    "是",
    "对",
    "はい",
    "네",
]
_NO = ["no", "nope", "nein", "non", "não", "нет", "nie", "hayır", "iie", "不", "不是", "いいえ", "아니요"]
_BARE = re.compile(rf"\A\W*+({'|'.join(_YES + _NO)})\W*+\Z", re.I)
_END = "?!.。?؟ "


def is_bare(response: str | None) -> bool:
    return response is not None and _BARE.match(response) is not None


def statement(query: str | QueryBundle | None, response: str) -> str:
    """One sentence that says what a bare answer says: ``"Yes: did Ada Brink build the mill"``."""
    asked, found = str(query or "").strip().rstrip(_END), _BARE.match(response)
    if not asked or not found:
        return response
    # In one word for all languages: a small judge takes any other for a word that the contexts do not hold.
    said = "Yes" if found[1].casefold() in _YES else "No"
    return f"{said}: {asked[:1].lower()}{asked[1:]}"
