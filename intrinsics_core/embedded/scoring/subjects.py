"""Which of several titled documents each sentence of an answer is about.

What one document says of its subject is no support for a claim on a rival's. A sentence is about the title that it
names. One that names none is about its heading's ("**Harbour Hotel**" above a list), about what the sentence before it
was where it begins with "It" or "They", or about what its question names.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import lru_cache

from intrinsics_core.embedded.lexical import idf, is_unheard_of, tokens
from intrinsics_core.embedded.scoring.evidence import Sources, Unit, claim, keys_of, told_apart
from intrinsics_core.embedded.scoring.form import is_heading

_STANDS_FOR = re.compile(r"\A\W*(?:it|its|he|she|his|her|they|their|there)\b", re.IGNORECASE)
_SMALL_NUMBER = re.compile(r"\A[?#]{0,2}\d{1,3}\Z")
_SEVERAL = re.compile(r"\b(?:both|each|either|neither|all|none|others?|another|same|respectively)\b", re.IGNORECASE)


def subjects(sentences: Sequence[str], sources: Sources, question: str = "") -> list[frozenset[int]]:
    """For each sentence the indices of the documents that may tell of what it is about; empty where all may.

    Args:
        sentences: those of an answer, in order (`form.without_form`).
        sources: with a title for each document.
        question: what was asked. Its names count, other words do not.
    """
    nothing = frozenset[int]()
    if sources.documents is None or len(sources.told_apart) < 2:
        return [nothing] * len(sentences)
    asked = _about([unit for unit in claim(question).units if unit.is_detail], sources) or nothing
    found, above, before = list[frozenset[int]](), nothing, asked
    in_list = False
    for sentence in sentences:
        own = _about(claim(sentence).units, sources)
        if is_heading(sentence):
            above = own or nothing
        elif in_list and not sentence.startswith("- "):
            above = nothing
        in_list = sentence.startswith("- ")
        if own is None:
            stands_for = _STANDS_FOR.match(sentence)
            own = nothing if _SEVERAL.search(sentence) else above or (before if stands_for else asked)
        found.append(own)
        before = own
    return found


def passages_about(question: str, titles: Sequence[str], texts: Sequence[str]) -> frozenset[int]:
    """The passages that may answer a question which names one of their titles; empty where all may.

    Args:
        question: the question as it stands alone. Its names count, other words do not.
        titles: of each passage, "" for none.
        texts: of each passage.
    """
    named = _named([unit for unit in claim(question).units if unit.is_detail], told_apart(titles))
    if len(named) != 1:
        return frozenset()
    ((title, keys),) = named.items()
    said = {i: keys & keys_of(text) for i, text in enumerate(texts)}
    return _without_rivals(title, keys, titles, said, lambda i: texts[i])


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


def _named(units: Iterable[Unit], apart: Mapping[str, frozenset[str]]) -> dict[str, frozenset[str]]:
    """The titles of which these words have a key that no other title has, with those keys."""
    words = {key for unit in units for key in unit.keys}
    return {title: both for title, keys in apart.items() if (both := keys & words)}


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
    shared = any(len(key) > 3 for key in keys_of(title) & keys_of(other))
    return shared or any(token.is_capitalised and is_unheard_of(token.term) for token in tokens(title))


def _tells_of(title: str, text: str) -> bool:
    """Whether a text names what its title names, in two words at least: "Tom Hale is a baker." under "Tom Hale"."""
    return " " in title.strip() and title.strip() in text
