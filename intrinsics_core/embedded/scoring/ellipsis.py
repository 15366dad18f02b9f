"""What a clause leaves out because the clause before it says it: "and Tom in 2019" behind "Anna joined in 2015"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile

from intrinsics_core.embedded.lexical import tokens
from intrinsics_core.embedded.scoring.verbs import AUXILIARY

_AUXILIARY = re.compile(AUXILIARY, re.IGNORECASE)
_NOT = re.compile(rf"(?:{AUXILIARY})(?: not|n['’]t)", re.IGNORECASE)
_SUBJECT = "\0"  # stands for the title in a clause that is filled in


def denied(words: Sequence[str]) -> str:
    """A predicate with its negation: "has a pool" as "has no pool", "costs more" as "does not cost more"."""
    verb, rest = words[0], " ".join(words[1:])
    if verb.casefold() in ("has", "have") and words[1:2] and words[1].casefold() in ("a", "an", "any"):
        return f"{verb} no {' '.join(words[2:])}"
    if _AUXILIARY.fullmatch(verb) and verb.casefold() not in ("has", "have"):
        return f"{verb} not {rest}"
    return f"does not {_infinitive(verb)} {rest}"


def _infinitive(verb: str) -> str:
    if verb.casefold() == "has":
        return "have"
    return verb[:-1] if verb.endswith("s") and not verb.endswith("ss") else verb


def opened(part: str, keys: frozenset[str]) -> list[str]:
    """The words of a clause, with `_SUBJECT` for its title and the article before it."""
    named = [token for token in tokens(part) if token.term in keys]
    if not named:
        return part.split()
    begin, end = named[0].begin, named[0].end
    for token in named[1:]:
        if part[end : token.begin].strip():
            break
        end = token.end
    before = re.sub(r"\bthe\s+\Z", "", part[:begin], flags=re.IGNORECASE)
    return f"{before} {_SUBJECT}{part[end:]}".rstrip(" .!").split()


def filled(first: Sequence[str], part: str, keys: frozenset[str]) -> str:
    """A clause with what it leaves out, from the first one; as it stands where it leaves out nothing."""
    said = opened(part, keys)
    verb = next((i for i, word in enumerate(first) if i and _AUXILIARY.fullmatch(word)), 0)
    if said[0].casefold() in ("it", "they") and verb and _SUBJECT not in first[:verb]:
        said = [*first[:verb], *said[1:]]  # "breakfast is included at ..., but it costs ..."
    elif said == ["not", _SUBJECT] and first[0] == _SUBJECT and first[1:]:
        said = [_SUBJECT, *denied(first[1:]).split()]  # "A has a pool, but not B"
    elif said[0].casefold() == "not" and verb:
        said = [*first[: verb + 1], *said]
    elif said[0] == _SUBJECT == first[0] and _NOT.fullmatch(" ".join(said[1:])):
        said += [_infinitive(first[1]), *first[2:]]  # "Tom speaks Polish, but Anna does not"
    elif said[0] == _SUBJECT == first[0] and said[2:] == ["none"] and first[1:2] == said[1:2]:
        thing = takewhile(lambda word: word != "of" and not word[0].isdigit(), first[2:])
        # "Sun has a fee of €20, but Moon has none"
        said[2:] = ["no", *(word for word in thing if word not in ("a", "an"))]
    else:
        front = int(said[0] == _SUBJECT == first[0])
        said = [*said[:front], *_from(first, said[front:])] if said[front:] else said
    named = [token.text for token in tokens(part) if token.term in keys]
    article = re.search(rf"\bthe\s+{re.escape(named[0])}\b", part, re.IGNORECASE)
    return " ".join(said).replace(_SUBJECT, " ".join(["the", *named] if article else named))


def _from(first: Sequence[str], rest: Sequence[str]) -> list[str]:
    """What follows a subject, behind the words of the first clause that come before a like beginning."""
    front = int(first[0] == _SUBJECT)
    alike = [i for i in range(1, len(first)) if _alike(first[i], rest[0])]
    at = next((i for i in alike if len(first) - i == len(rest)), alike[-1] if alike else front)
    after = at + len(rest)
    left_out = after < len(first) and alike and rest[-1][-1].isdigit() and _alike(first[after - 1], rest[-1])
    return [*first[front:at], *rest, *(first[after:] if left_out else ())]  # "85" of "110 euros a night"


def _alike(one: str, two: str) -> bool:
    """Whether two words are the same, or both numbers."""
    return one.casefold() == two.casefold() or (one[0].isdigit() and two[0].isdigit())
