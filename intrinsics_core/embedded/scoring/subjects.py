"""Which of several titled documents each sentence of an answer is about.

What one document says of its subject is no support for a claim on a rival's. A sentence is about the title that it
names. One that names none is about its heading's ("**Harbour Hotel**" above a list), about what the sentence before it
was where it begins with "It", or about what its question names.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import lru_cache

from intrinsics_core.embedded.lexical import is_unheard_of, tokens
from intrinsics_core.embedded.scoring.evidence import Sources, Unit, claim, keys_of, told_apart
from intrinsics_core.embedded.scoring.form import is_heading

_STANDS_FOR = re.compile(r"\A\W*(?:it|its|he|she|his|her)\b", re.IGNORECASE)
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
    said = {i for i, text in enumerate(texts) if keys & keys_of(text)}
    return _without_rivals(title, titles, said, lambda i: texts[i])


def _about(units: Iterable[Unit], sources: Sources) -> frozenset[int] | None:
    """The documents that may tell of the one title that these words name; empty where all may, or they name more than
    one; None where they name none.
    """
    named = _named(units, sources.told_apart)
    if len(named) != 1 or sources.documents is None:
        return frozenset() if named else None
    ((title, keys),) = named.items()
    said = {sources.documents[i] for key in keys for i in sources.postings.get(key, ())}
    return _without_rivals(title, sources.titles, said, lambda i: sources.of_documents.get(i, ""))


def _named(units: Iterable[Unit], apart: Mapping[str, frozenset[str]]) -> dict[str, frozenset[str]]:
    """The titles of which these words have a key that no other title has, with those keys."""
    words = {key for unit in units for key in unit.keys}
    return {title: both for title, keys in apart.items() if (both := keys & words)}


def _without_rivals(
    title: str, titles: Sequence[str], said: Collection[int], text: Callable[[int], str]
) -> frozenset[int]:
    """All documents but the rivals of a title in whose text its words are not ``said``; empty where there are none."""
    others = [i for i, each in enumerate(titles) if each and each != title and i not in said]
    rivals = {i for i in others if _is_rival(titles[i], title) or _tells_of(titles[i], text(i))}
    return frozenset(range(len(titles))) - rivals if rivals else frozenset()


@lru_cache(maxsize=4096)
def _is_rival(title: str, other: str) -> bool:
    """Whether a title is of another thing of the same kind ("Garden Hotel" beside "Harbour Hotel"), or holds a name.

    "Prices" beside "Harbour Hotel" may be a part of what is told of the hotel.
    """
    shared = any(len(key) > 3 for key in keys_of(title) & keys_of(other))
    return shared or any(token.is_capitalised and is_unheard_of(token.term) for token in tokens(title))


def _tells_of(title: str, text: str) -> bool:
    """Whether a text names what its title names, in two words at least: "Tom Hale is a baker." under "Tom Hale"."""
    return " " in title.strip() and title.strip() in text
