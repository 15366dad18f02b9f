"""Whether a text is about several of the things that titles name, or asks for another: "both", "the other hotel".

Most of these words count only in front of what the things are ("each hotel", "the cheapest plan"), of "one" or of
"them". "Breakfast for two", "each day" and "is there any breakfast" are about the one thing that is talked of.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from intrinsics_core.embedded.scoring.keys import keys_of
from intrinsics_core.embedded.scoring.verbs import FINITE

_SEVERAL = re.compile(
    r"\b(?:both|either|neither)\b(?! of (?:us|you)\b)|\b(?:others|respectively)\b"
    r"|\b(?:any|each|all|none|one|two|three) of (?:them|these|those)\b|\b(?:each|another) one\b"
    rf"|\b(?:each|all|none|another|the (?:two|three|other)) (?={FINITE})"
    r"|\bthe other(?: ones?| two| three)?(?=[,;.!?]|\Z)|\bthe other (?:ones?|two|three)\b",
    re.IGNORECASE,
)
_ASKS_FOR_OTHERS = re.compile(
    rf"\bwhich (?:ones?\b|of\b|(?={FINITE}))|\bany (?:ones?\b|others?\b|(?={FINITE}))|\b(?:them|anywhere|elsewhere)\b"
    r"|\bthan (?:the|at|in|any|that)\b|\b(?:same|most|least|\w{2,}er|\w{3,}est) ones?\b"
    r"|\b(?:which|who)\b[^.?!]{0,60} (?<!at )(?:most|least|best|\w{3,}est)\b"
    r"|\bwhere\b[^.?!]{0,60} (?<!at )(?:most|least|\w{3,}est)(?=\W*\Z)",
    re.IGNORECASE,
)
_IN_FRONT = re.compile(
    r"\b(?:(?P<any>which|any|other|another)|both|each|either|neither|every|all|none|same|two|three|most|least|better"
    r"|cheaper|larger|bigger|smaller|nearer|closer|older|newer|faster"
    r"|(?!guest|forest|request|interest|harvest|protest|latest)\w{3,}est)\b(?P<next>(?: \w+){1,3})",
    re.IGNORECASE,
)
_POINTS = re.compile(
    r"\bthe (?:(?P<other>other)|(?P<first>first|former)|(?P<second>second)|(?P<last>last|latter))"
    r"(?: (?P<kind>\w+)|(?=\W*\Z))",
    re.IGNORECASE,
)
_LEAST = 4  # letters of what a thing is


@lru_cache(maxsize=256)
def kinds(titles: tuple[str, ...]) -> frozenset[str]:
    """What several titles call their things: "hotel" of "Garden Hotel" and "Harbour Hotel"; empty for "Anna Berg"."""
    counted = Counter(key for title in titles for key in keys_of(title) if len(key) >= _LEAST)
    return frozenset(key for key, times in counted.items() if times > 1)


def is_of_several(text: str, of: frozenset[str]) -> bool:
    """Whether a text is about several things of these `kinds`, or about another one than the one talked of."""
    return bool(_SEVERAL.search(text)) or any(_is_of(match, of) for match in _IN_FRONT.finditer(text))


def asks_for_others(question: str, of: frozenset[str]) -> bool:
    """Whether a question is about several things of these `kinds`, compares them or asks which of them it is."""
    return bool(_ASKS_FOR_OTHERS.search(question)) or is_of_several(question, of)


def pointed_at(question: str, named: Sequence[Sequence[str]], titles: tuple[str, ...]) -> str | None:
    """The title that "the first one", "the second plan" or "the other hotel" stands for; None where nobody can tell.

    Args:
        question: what was asked.
        named: the titles that each turn before it names, in their order, the newest turn first.
        titles: all of them.
    """
    match = next((m for m in _POINTS.finditer(question) if _is_one_of(m["kind"], kinds(titles))), None)
    if match is None:
        return None
    if match["other"]:
        last = next(filter(None, named), [])
        left = [title for title in titles if title not in last]
        return left[0] if len(last) == 1 == len(left) else None
    together = next((some for some in named if len(some) > 1), None)
    order = together or list(dict.fromkeys(title for some in reversed(named) for title in some))
    place = -1 if match["last"] else 1 if match["second"] else 0
    return order[place] if len(order) > 1 else None


def _is_one_of(word: str | None, of: frozenset[str]) -> bool:
    return word is None or word.casefold() == "one" or not of.isdisjoint(keys_of(word))


def _is_of(match: re.Match[str], of: frozenset[str]) -> bool:
    """Whether what stands behind such a word is of these kinds. Without kinds "which" may ask for any thing."""
    first, *more = match["next"].split()
    if not of:
        return bool(match["any"]) and bool(keys_of(first))
    return any(not of.isdisjoint(keys_of(word)) for word in (first, *more))
