"""Which of several titled documents each sentence of an answer is about.

What one document says of its subject is no support for a claim on a rival's. A sentence is about the title that it
names. One that names none is about its heading's ("**Harbour Hotel**" above a list), about what the sentences before it
were where it goes on with "It", "However, they" or "This plan", about the first of two named before where it says "the
former", or about what its question names.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from intrinsics_core.embedded.lexical import idf, is_unheard_of, tokens
from intrinsics_core.embedded.scoring.keys import Unit, claim, keys_of, told_apart
from intrinsics_core.embedded.scoring.sources import Sources
from intrinsics_core.text.headings import heading_level

_OPENED = r"\A\W*(?:[^\W\d]+(?: [^\W\d]+){0,4}, )?(?:(?:and|but|so) )?"  # "However, ", "And "
_STANDS_FOR = re.compile(
    _OPENED + r"(?:it|its|he|she|his|her|they|their|there|this|that|these|those|the)\b"
    r"|\bthere\b(?! (?:is|are|was|were|will|has|have)\b)",
    re.IGNORECASE,
)
_FORMER = re.compile(r"\bthe (?:former|first)\b(?! (?:of|day|week|month|year|floor|time)\b)", re.IGNORECASE)
_LATTER = re.compile(r"\bthe (?:latter|second)\b(?! (?:of|day|week|month|year|floor|time)\b)", re.IGNORECASE)
_OTHER = re.compile(r"\bthe other\b(?! (?:two|three|four|hand|day|way|side|end)\b)", re.IGNORECASE)
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
        sentences: those of an answer, in order (`form.without_form`).
        sources: with a title for each document.
        question: what was asked. Its names count, other words do not.
        turns: those before it, the newest first. They count where the question names no title.
    """
    apart = sources.told_apart
    if sources.documents is None or len(apart) < 2:
        return [_ALL] * len(sentences)
    asked = _asked(question, sources, turns)
    found, above, before, last = list[frozenset[int]](), _Above(), asked, list[str]()
    in_list = False
    for sentence in sentences:
        units = claim(sentence).units
        own, named = _about(units, sources), _in_order(units, apart)
        level = heading_level(sentence)
        if level or (own and (sentence.endswith(":") or only_names_one(sentence, apart))):
            if own or level <= above.level:
                above = _Above(own or _ALL, level or above.level)
        elif in_list and not sentence.startswith("- "):
            above = _Above()
        in_list = sentence.startswith("- ")
        if named:
            found.append(own or _ALL)
            last = list(dict.fromkeys(named if named[1:] else [t for t in last if t != named[0]] + named))[-2:]
            before = own or _of_title(named[0], sources)
            continue
        other = [title for title in apart if title not in last]
        if _OTHER.search(sentence) and len(other) == 1 == len(last):
            found.append(_of_title(other[0], sources))
        elif len(last) > 1 and (_FORMER.search(sentence) or _LATTER.search(sentence)):
            found.append(_of_title(last[0] if _FORMER.search(sentence) else last[-1], sources))
        else:
            found.append(above.about or (before if _STANDS_FOR.search(sentence) else asked))
    return found


def _asked(question: str, sources: Sources, turns: Sequence[str]) -> frozenset[int]:
    """The documents that may tell of what a question, or the newest turn before it that names a title, is about.

    A question that names a title in plain words is about another thing than the turn was. So is one with a word that no
    document about that title has, but one about a thing of another kind: "How much is the city tax?".
    """
    apart, units = sources.told_apart, claim(question).units
    named = _about(_details(units), sources)
    if named is not None or _named(units, apart):
        return named or _ALL
    before = next((found for turn in turns if (found := _named_in(turn, apart))), {})
    if len(before) != 1:
        return _ALL
    (title,) = before
    about = _of_title(title, sources)
    allowed = about | {i for i, other in enumerate(sources.titles) if shares_a_word(title, other)}
    return about if all(_told_in(unit, allowed, sources) for unit in units) else _ALL


def _told_in(unit: Unit, allowed: frozenset[int], sources: Sources) -> bool:
    """Whether a word is in one of these documents, or in none at all."""
    owners = sources.documents or []
    places = {owners[i] for key in unit.keys for i in sources.postings.get(key, ())}
    return not places or not places.isdisjoint(allowed)


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
    named = _in_order(units, apart)
    if len(named) != 1 or sentence.rstrip().endswith((".", "!", "?")):
        return False
    return all(unit.keys & keys_of(named[0]) for unit in units)


def passages_about(
    question: str, titles: Sequence[str], texts: Sequence[str], before: Sequence[str] = ()
) -> frozenset[int]:
    """The passages that may answer a question which names one of their titles; empty where all may.

    Where it names none, it is about the title that the newest of the user's turns before it names.

    Args:
        question: the question as it stands alone. Its names count, and a title that it has in full.
        titles: of each passage, "" for none.
        texts: of each passage.
        before: the user's earlier turns, the newest first. Their names count.
    """
    apart = told_apart(titles)
    named = _in_full(question, apart) or _named_in(question, apart)
    if not named and not _named(claim(question).units, apart):
        named = next((found for turn in before if (found := _named_in(turn, apart))), {})
    if len(named) != 1:
        return frozenset()
    ((title, keys),) = named.items()
    said = {i: keys & keys_of(text) for i, text in enumerate(texts)}
    return _without_rivals(title, keys, titles, said, lambda i: texts[i])


def _named_in(text: str, apart: Mapping[str, frozenset[str]]) -> dict[str, frozenset[str]]:
    """The titles that the names of a text name."""
    return _named(_details(claim(text).units), apart)


def _in_full(text: str, apart: Mapping[str, frozenset[str]]) -> dict[str, frozenset[str]]:
    """The titles that a text has word by word, in any case, with their keys that no other title has."""
    said = _words(text)
    return {title: keys for title, keys in apart.items() if keys and _words(title) in said}


def _words(text: str) -> str:
    return f" {' '.join(token.text.casefold() for token in tokens(text))} "


def _about(units: Sequence[Unit], sources: Sources) -> frozenset[int] | None:
    """The documents that may tell of the one title that these words name; empty where all may, or they name more than
    one; None where they name none.

    Names come before other words: "Meridel insures luggage" is about Meridel, and not about "Corvia Insurance", too.
    """
    apart = sources.told_apart
    named = _named([unit for unit in units if unit.is_name], apart) or _named(units, apart)
    if len(named) != 1 or sources.documents is None:
        return frozenset() if named else None
    ((title, keys),) = named.items()
    said: dict[int, set[str]] = defaultdict(set)
    for key in keys:
        for i in sources.postings.get(key, ()):
            said[sources.documents[i]].add(key)
    return _without_rivals(title, keys, sources.titles, said, lambda i: sources.of_documents.get(i, ""))


def _of_title(title: str, sources: Sources) -> frozenset[int]:
    """The documents that may tell of a title; empty where all may."""
    return _about(claim(title).units, sources) or _ALL


def _in_order(units: Sequence[Unit], apart: Mapping[str, frozenset[str]]) -> list[str]:
    """The titles that words name, in their order. Names come before other words."""
    named = _named([unit for unit in units if unit.is_name], apart) or _named(units, apart)
    return sorted(named, key=lambda title: next(i for i, unit in enumerate(units) if unit.keys & named[title]))


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
    text: Callable[[int], str],
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
    rivals = {i for i in others if is_rival(titles[i], title) or _tells_of(titles[i], text(i))}
    return frozenset(range(len(titles))) - rivals if rivals else frozenset()


@lru_cache(maxsize=4096)
def is_rival(title: str, other: str) -> bool:
    """Whether a title is of another thing of the same kind ("Garden Hotel" beside "Harbour Hotel"), or holds a name.

    "Prices" beside "Harbour Hotel" may be a part of what is told of the hotel.
    """
    return shares_a_word(title, other) or any(
        token.is_capitalised and is_unheard_of(token.term) for token in tokens(title)
    )


def shares_a_word(title: str, other: str) -> bool:
    """Whether two titles name things of one kind by their words: "Garden Hotel", "Harbour Hotel"."""
    return any(len(key) > 3 for key in keys_of(title) & keys_of(other))


def _tells_of(title: str, text: str) -> bool:
    """Whether a text names what its title names, in two words at least: "Tom Hale is a baker." under "Tom Hale"."""
    return " " in title.strip() and title.strip() in text
