"""An answer that is nothing but yes or no says something only together with its question."""

from __future__ import annotations

import re

from llama_index.core.schema import QueryBundle

# In the languages that people ask in most; the words alone, or with their punctuation.
_WORDS = (
    "yes no yeah yep nope ja nein oui non si sí sim não sì да нет tak nie evet hayır hai iie",
    "是 不 不是 对 はい いいえ 네 아니요",
)
_BARE = re.compile(rf"\A\W*+(?:{'|'.join(' '.join(_WORDS).split())})\W*+\Z", re.I)
_END = "?!.。?؟ "


def is_bare(response: str | None) -> bool:
    return response is not None and _BARE.match(response) is not None


def statement(query: str | QueryBundle | None, response: str) -> str:
    """One sentence that says what the answer says: ``"Yes: did Ada Brink build the mill"``."""
    asked = str(query or "").strip().rstrip(_END)
    return f"{response.strip().rstrip(_END)}: {asked[:1].lower()}{asked[1:]}" if asked else response
