"""Turns without the words by which an assistant refuses, greets or offers: they are no keywords."""

from __future__ import annotations

import re
from collections.abc import Sequence

from intrinsics_core.embedded.query.remarks import OF_TALK
from intrinsics_core.embedded.query.salience import Turn
from intrinsics_core.embedded.scoring.claims import claims_nothing
from intrinsics_core.text.courtesy import GREETING, SURELY, THANKS
from intrinsics_core.text.layout import laid_out
from intrinsics_core.text.words import word_set

# Who speaks, whom, or of which documents: other sentences are not looked at.
_MAY_TELL_NOTHING = re.compile(
    rf"\A\W*(?:i|we|my|sorry|unfortunately|please|welcome|ask|let|feel|{GREETING}|{THANKS}|{SURELY})\b"
    r"|\b(?:documents?|passages?|context|sources?|information)\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W_]+")
_OF_REFUSALS = OF_TALK | word_set(
    "unfortunately documents document passages passage context sources source information details detail data find"
    " found able unable assistant ai bot cannot provide provided providing mention mentioned contain contains based"
    " available given assist anything contact further please free sure"
)
_A_TEXT = 20_000  # characters of a turn from which on it is a text


def without_small_talk(turns: Sequence[Turn]) -> list[Turn]:
    """The turns; of the assistant's sentences that claim nothing, only the words that say what they are about."""
    return [(role, _told(text) if role == "assistant" else text) for role, text in turns]


def _told(text: str) -> str:
    if len(text) > _A_TEXT:
        return text
    parts, end = list[str](), 0
    for sentence in laid_out(text):
        said = sentence.text
        if _MAY_TELL_NOTHING.search(said) and "?" not in said and claims_nothing(said):
            parts += [text[end : sentence.begin], _WORD.sub(_unless_of_refusals, said)]
            end = sentence.end
    return "".join((*parts, text[end:])) if parts else text


def _unless_of_refusals(word: re.Match[str]) -> str:
    return "" if word[0].casefold() in _OF_REFUSALS else word[0]
