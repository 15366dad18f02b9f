"""What an answer repeats from a source word for word: it is supported, whatever a model makes of it."""

from __future__ import annotations

import re

from intrinsics_core.embedded.lexical import Token, tokens
from intrinsics_core.embedded.query.lexicon import POINTERS, POSSESSIVE
from intrinsics_core.embedded.scoring.evidence import Evidence
from intrinsics_core.embedded.scoring.sources import Sources

DENIES = re.compile(
    r"\b(?:not?|never|none|nor|neither|without|cannot|except|unless|instead)\b|n['\u2019]t\b", re.IGNORECASE
)
_WHICH = re.compile(r"\b(?:which|whose|who|whom)\b", re.IGNORECASE)
_QUOTED = 2  # words with content, from which on a run of words is a quote
_PRONOUNS = frozenset(("it", "they", "he", "she"))
_LEANS = _PRONOUNS | POSSESSIVE | POINTERS | {"there"}
_SUBJECT = 8  # words at the beginning of a sentence, among which its subject is
_NAMED = 4  # words of what a pronoun stands for, at most
_CLAUSE = 3  # words with content, from which on a part of a sentence is a clause
# What a clause ends at, and what follows that it is not true without.
_BREAK = re.compile(r"\A\s*+(?:[,;(\u2013\u2014]|-\s|(?:and|but|because|since|as|while|whereas|although|so)\b)", re.I)
_BOUND = re.compile(
    r"\A\W*+(?:but\s+(?:for|one)|(?:(?:and|but|or|as)\W++)?"
    r"(?:if|unless|except|only|provided|when|until|till|without|not|or|than|as|to))\b",
    re.I,
)
_OPEN = re.compile(r"\A\W*+(?:if|when|unless|until|although|though|while|where|whether|in case)\b", re.I)
_PAIRED = re.compile(r"\b(?:between|both|either|neither|not only)\b", re.I)


def is_quoted(sentence: str, evidence: Evidence, sources: Sources, nearest: int, given: str) -> bool:
    """Whether a sentence is a source sentence (`repeats`) or a clause of one (`repeats_a_clause`), or its question
    completed with words of one (`quotes`).

    Args:
        nearest: the source sentence with the best score.
        given: the question.
    """
    read, source = sources.read_as[nearest], sources.texts[nearest]
    if not read or (DENIES.search(read) and not DENIES.search(source)):  # it says nothing, or below "not covered:"
        return False
    if repeats(sentence, source, _subject_before(sources, nearest)) or repeats_a_clause(sentence, source):
        return True
    return quotes(sentence, source, given) and not _is_of_another(evidence, nearest)


def repeats(sentence: str, source: str, subject: str) -> bool:
    """Whether a sentence has all words of a source sentence in their order, but a name in the place of a pronoun.

    "On Sundays the museum closes at 4 pm." repeats "On Sundays it closes at 4 pm." behind "The town museum is open
    from 10 am." A sentence that leans on others itself may have been said of another thing.

    Args:
        subject: the words that a pronoun of the source may stand for.
    """
    said, there = _words(sentence), _words(source)
    if not _LEANS.isdisjoint(said):
        return False
    if said == there:
        return True
    size = len(said) - len(there) + 1
    for at, word in enumerate(there):
        if word in _PRONOUNS and 0 < size <= _NAMED and said == [*there[:at], *said[at : at + size], *there[at + 1 :]]:
            named = _content(tokens(" ".join(said[at : at + size])))
            return bool(named) and {token.term for token in tokens(subject)}.issuperset(named)
    return False


def repeats_a_clause(sentence: str, source: str) -> bool:
    """Whether a sentence is word for word what a source sentence begins with, or what stands behind a semicolon in it.

    "The last train leaves at 22:10." is a clause of "The last train leaves at 22:10, the first one at 5:30." What goes
    on with a condition or an exception, or begins with one, is no clause.
    """
    said, there = _words(sentence), _words(source)
    size = len(said)
    if len(there) <= size or len(_content(tokens(sentence))) < _CLAUSE or not _LEANS.isdisjoint(said):
        return False
    if _OPEN.match(sentence) or _OPEN.match(source):
        return False
    if said == there[:size]:
        rest = source[tokens(source)[size - 1].end :]
        return bool(_BREAK.match(rest)) and not _BOUND.match(rest) and not _PAIRED.search(sentence)
    return said == there[-size:] and source[: tokens(source)[-size].begin].rstrip().endswith(";")


def quotes(sentence: str, source: str, given: str) -> bool:
    """Whether a sentence says nothing but words of its question and then a run of words of a source sentence.

    "You need half a litre of milk." is such an answer to "How much milk do I need?" where the source has "half a litre
    of milk". The run holds a word of the question, so that it is about what was asked for; a sentence or a source that
    denies anything is left to the head, and so is a question of which or who: the wrong one stands in the sources, too.
    """
    asked = set(_content(tokens(given)))
    if _WHICH.search(given):
        return False
    said = tokens(sentence)
    begin = next((i for i, token in enumerate(said) if not token.is_stop and token.term not in asked), len(said))
    run = [token.term for token in said[begin:]]
    content = _content(said[begin:])
    if len(content) < _QUOTED or asked.isdisjoint(content) or DENIES.search(sentence):
        return False
    return not DENIES.search(source) and f" {' '.join(run)} " in f" {' '.join(t.term for t in tokens(source))} "


def _is_of_another(evidence: Evidence, nearest: int) -> bool:
    """Whether a source sentence lacks a word of the claim that another one has: it may be about another thing."""
    found = evidence.placed > 0
    return bool((found.any(axis=1) & ~found[:, nearest]).any())


def _subject_before(sources: Sources, at: int) -> str:
    """The title of a source sentence, and the beginning of the last sentence before it that begins with no pronoun."""
    title, owner = sources.title_of(at), sources.documents
    before = at - 1
    while before >= 0 and (owner is None or owner[before] == owner[at]):
        words = sources.texts[before].split()[:_SUBJECT]
        if words and words[0].casefold() not in _LEANS:
            return f"{title} {' '.join(words)}"
        before -= 1
    return title


def _words(text: str) -> list[str]:
    return [token.text.casefold() for token in tokens(text)]


def _content(said: list[Token]) -> list[str]:
    return [token.term for token in said if not token.is_stop]
