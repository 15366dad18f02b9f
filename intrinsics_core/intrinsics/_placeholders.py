"""Texts that a model writes where it was to write none, and the id that it repeats before a text.

``revise`` asks for an empty text where nothing of a sentence can be kept. Models write "None" or "[removed]", too.
"""

from __future__ import annotations

import re

from intrinsics_core.replies.placeholders import says_nothing

_REMOVED = re.compile(
    r"(?:an?\s+)?(?:empty|blank)(?:\s+(?:text|string|sentence))?|"
    r"(?:(?:this|the)\s+)?(?:(?:sentence|text|claim)\s+)?(?:(?:was|is|has been|to be)\s+)?"
    r"(?:removed|dropped|deleted|omitted)",
    re.IGNORECASE,
)
_SHORT = 2  # words of a sentence in whose place "None" or "Removed" may be an answer


def without_placeholder(text: str, number: int, before: str) -> str:
    """What a model wrote in place of sentence ``before``, without the sentence's id; empty where it says "none".

    A placeholder in brackets is one in any place. A bare one is no placeholder where a sentence of a word or two stood,
    since "None." may then be the answer.
    """
    text = _without_id(text.strip(), number, before)
    words = [i for i, character in enumerate(text) if character.isalnum()]
    if not words:
        return ""
    core = text[words[0] : words[-1] + 1]
    bracketed = text[0] in "[(<{" and text[-1] in "])>}."
    placeholder = says_nothing(core) or _REMOVED.fullmatch(core)
    return "" if placeholder and (bracketed or len(before.split()) > _SHORT) else text


def _without_id(text: str, number: int, before: str) -> str:
    name = re.compile(rf"(?:r{number}\s?+[:.)]|[\[(<]r{number}[\])>]\s?+:?|r{number}\s++[-–—](?=\s))\s*+")
    found = None if name.match(before) else name.match(text)
    return text[found.end() :] if found else text
