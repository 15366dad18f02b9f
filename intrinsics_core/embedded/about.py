"""Which of several titled documents each sentence of an answer is about.

What one document says of its subject is no support for a claim on a rival's. A sentence is about the title that it
names. One that names none is about its heading's ("**Harbour Hotel**" above a list), about what the sentences before it
were where it goes on with "It", "However, they" or "This plan", about the first of two named before where it says "the
former", or about what its question names.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from intrinsics_core.embedded.sources import Sources
from intrinsics_core.embedded.words import Unit, claim, idf, is_unheard_of, keys_of, tokens, told_apart
from intrinsics_core.text.lines import heading_level

_OPENED = r"\A\W*(?:[^\W\d]+(?: [^\W\d]+){0,4}, )?(?:(?:and|but|so) )?"  # "However, ", "And "
_STANDS_FOR = re.compile(
    _OPENED + r"(?:it|its|he|she|his|her|they|their|there|this|that|these|those|the)\b"
    r"|\bthere\b(?! (?:is|are|was|were|will|has|have)\b)",
    re.IGNORECASE,
)
_ONE_OF_TWO = re.compile(
    r"\bthe (?:(?P<first>former|first)|latter|second)\b(?! (?:of|day|week|month|year|floor|time)\b)", re.IGNORECASE
)
_SMALL_NUMBER = re.compile(r"\A[?#]{0,2}\d{1,3}\Z")
_ALL = frozenset[int]()


class _Above(NamedTuple):
    """What the lines of a list or a section are about, and the level of the heading that says so."""

    about: frozenset[int] = _ALL
    level: int = 9


def subjects(
    sentences: Sequence[str], sources: Sources, question: str = "", turns: Sequence[str] = ()
) -> list[frozenset[int]]:
    """For each sentence the indices of the documents that may tell of what it is about; empty where all may.

    Args:
        sentences: those of an answer, in order (`view.read_answer`).
        question: what was asked. Its names count, other words do not.
        turns: those before it, the newest first. They count where the question names no title.
    """
    apart = sources.told_apart
    if len(apart) < 2:
        return [_ALL] * len(sentences)
    asked = _of(_titles_asked(question, apart, turns), sources)
    found, above, before, last, in_list = list[frozenset[int]](), _Above(), asked, list[str](), False
    for sentence in sentences:
        units = claim(sentence).units
        own = _about(units, sources)  # None where it names no title
        level = heading_level(sentence)
        if level or (own and only_names_one(sentence, apart)):
            if own or level <= above.level:
                above = _Above(own or _ALL, level or above.level)
        elif in_list and not sentence.startswith("- "):
            above = _Above()
        in_list = sentence.startswith("- ")
        if own is not None:
            found.append(own)
            named = list(_names_first(units, apart))
            last = (named if named[1:] else [title for title in last if title != named[0]] + named)[-2:]
            before = own or _of_title(named[0], sources)
        elif len(last) > 1 and (one := _ONE_OF_TWO.search(sentence)):
            found.append(_of_title(last[0 if one["first"] else -1], sources))
        else:
            found.append(above.about or (before if _STANDS_FOR.search(sentence) else asked))
    return found


def _titles_asked(
    question: str, apart: Mapping[str, frozenset[str]], before: Sequence[str]
) -> dict[str, frozenset[str]]:
    """The titles that a question names, or the newest turn ``before`` it that names one, and the keys that do so."""
    asked = (_named(_details(claim(turn).units), apart) for turn in (question, *before))
    return next(filter(None, asked), {})


def _details(units: Sequence[Unit]) -> list[Unit]:
    """The names and numbers, and the word before a number ("chapter 4")."""
    before_number = [two.is_number for two in units[1:]]
    return [unit for unit, before in zip(units, [*before_number, False], strict=False) if unit.is_detail or before]


def only_names_one(sentence: str, apart: Mapping[str, frozenset[str]]) -> bool:
    """Whether a line is nothing but the name of a title ("- Garden Hotel"): what follows is about it.

    Args:
        apart: of each title the keys that no other title has (`told_apart`).
    """
    units = claim(sentence).units
    named = _names_first(units, apart)
    ended = sentence.rstrip().endswith((".", "!", "?"))
    return len(named) == 1 and not ended and all(unit.keys & keys_of(title) for title in named for unit in units)


def passages_about(
    question: str, titles: Sequence[str], texts: Sequence[str], before: Sequence[str] = ()
) -> frozenset[int]:
    """The passages that may answer a question which names one of their ``titles``; empty where all may.

    Where it names none, it is about the title that the newest of the user's turns ``before`` it names, newest first.
    """
    named = _titles_asked(question, told_apart(titles), before)
    if len(named) != 1:
        return _ALL
    ((title, keys),) = named.items()
    return _without_rivals(title, keys, titles, {i: keys & keys_of(text) for i, text in enumerate(texts)})


def _about(units: Sequence[Unit], sources: Sources) -> frozenset[int] | None:
    """The documents that may tell of the one title that these words name (`_of`); None where they name none."""
    named = _names_first(units, sources.told_apart)
    return _of(named, sources) if named else None


def _of(named: Mapping[str, frozenset[str]], sources: Sources) -> frozenset[int]:
    """The documents that may tell of a title, by the keys that name it; empty where all may, or it is not one."""
    if len(named) != 1:
        return _ALL
    ((title, keys),) = named.items()
    said: dict[int, set[str]] = defaultdict(set)
    for key in keys:
        for i in sources.postings.get(key, ()):
            said[int(sources.owner[i])].add(key)
    return _without_rivals(title, keys, sources.titles, said)


def _of_title(title: str, sources: Sources) -> frozenset[int]:
    return _about(claim(title).units, sources) or _ALL


def _names_first(units: Sequence[Unit], apart: Mapping[str, frozenset[str]]) -> dict[str, frozenset[str]]:
    """The titles that words name, in their order. Names come before other words: "Meridel insures luggage" is about
    Meridel, and not about "Corvia Insurance", too.
    """
    named = _named([unit for unit in units if unit.is_name], apart) or _named(units, apart)
    order = sorted(named, key=lambda title: next(i for i, unit in enumerate(units) if unit.keys & named[title]))
    return {title: named[title] for title in order}


def _named(units: Iterable[Unit], apart: Mapping[str, frozenset[str]]) -> dict[str, frozenset[str]]:
    """The titles of which these words have a key that no other title has, with those keys.

    A small number names a title only behind the word that stands before it there: "two years" is not "part 2".
    """
    words = list(units)
    said = {key for unit in words for key in unit.keys}
    behind = {(before, key) for one, two in pairwise(words) for before in one.keys for key in two.keys}
    found = dict[str, frozenset[str]]()
    for title, keys in apart.items():
        if both := frozenset(
            key for key in keys & said if not _SMALL_NUMBER.match(key) or behind & _before(title, key)
        ):
            found[title] = both
    return found


@lru_cache(maxsize=4096)
def _before(title: str, key: str) -> frozenset[tuple[str, str]]:
    """The keys of the word before a number of a title, each with the number's."""
    return frozenset((word, key) for one, two in pairwise(claim(title).units) if key in two.keys for word in one.keys)


def _without_rivals(
    title: str,
    keys: frozenset[str],
    titles: Sequence[str],
    said: Mapping[int, Collection[str]],
) -> frozenset[int]:
    """All documents but the rivals of a title that do not tell of it; empty where there are none.

    A document tells of it where its text has half of the words that name it, weighed by how rare they are: "house"
    alone is not the Glass House Museum, and "1" not the Trek 1.

    Args:
        keys: of the title, those that name it.
        said: of the documents, the keys that their texts have.
    """
    names = {key for key in keys if not _SMALL_NUMBER.match(key)}
    half = sum(map(idf, names)) / 2
    tells = {i for i, some in said.items() if names & set(some) and sum(map(idf, names & set(some))) >= half}
    others = [i for i, each in enumerate(titles) if each and each != title and i not in tells]
    rivals = {i for i in others if is_rival(titles[i], title)}
    return frozenset(range(len(titles))) - rivals if rivals else frozenset()


@lru_cache(maxsize=4096)
def is_rival(title: str, other: str) -> bool:
    """Whether a title is of another thing of the same kind ("Garden Hotel" beside "Harbour Hotel"), or holds a name.

    "Prices" beside "Harbour Hotel" may be a part of what is told of the hotel.
    """
    alike = any(len(key) > 3 for key in keys_of(title) & keys_of(other))
    return alike or any(token.is_capitalised and is_unheard_of(token.term) for token in tokens(title))
