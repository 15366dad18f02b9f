"""Which words of a conversation its last question leans on.

Two things are estimated, each by a small logistic regression over counts:

- *term salience*: for every content term of the earlier turns, the probability that a person would write it
  into a standalone version of the question (head ``rewrite``), and that the passage with the answer contains
  it (head ``rewrite_terms``). This is the term-resolution view of query rewriting: QuReTeC (Voskarides et
  al., *Query Resolution for Conversational Search with Limited Supervision*, SIGIR 2020), with counts in
  place of BERT.
- *dependence* (head ``rewrite_dependence``): the probability that the question cannot be understood alone.

What this is not: it does not parse and does not know what words mean. It sees that a word is rare, recent,
capitalised and repeated, not that it is the antecedent of "it". A language model does better there.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache

from intrinsics_core.embedded.heads import load_head
from intrinsics_core.embedded.turns import Turn
from intrinsics_core.embedded.words import Token, idf, tokens
from intrinsics_core.text import stops
from intrinsics_core.text.words import AUXILIARY, word_set

PERSON, PLURAL, POSSESSIVE = word_set("he him his she her"), word_set("they them their"), word_set("its their his her")
THIRD = PERSON | PLURAL | word_set("it its")
POINTERS, PLACES = word_set("this that these those"), word_set("there here")
_PERSONAL = THIRD | word_set("it's itself they're theirs themselves he's himself hers she's herself")
_DEMONSTRATIVE = POINTERS | word_set("that's there such")
OPEN_SET = word_set("other others else another more any some same both one ones either neither rest")
LEANING = THIRD | POINTERS | PLACES | OPEN_SET
AUXILIARIES = frozenset(AUXILIARY.split("|")) | word_set("be been might")
ASKING = word_set("what when where why how which who whom whose")

LONGEST_TURN = 100_000
"""Characters of a turn that are read, its last ones; a last turn that is longer is not rewritten."""
QUESTION_FEATURES = (
    "pronoun", "demonstrative", "open_set", "definite", "idf_mass", "known", "rarest_new", "capitalised"
)  # fmt: skip
TERM_FEATURES = ("idf", "in_first_user_turn", "only_by_assistant", "recency", "repeats", "capitalised", "in_phrase")


def heard(conversation: Sequence[Turn]) -> list[Turn]:
    """The turns of user and assistant, of each but the last at most `LONGEST_TURN` characters.

    Raises:
        ValueError: the conversation is empty or its last turn is not the user's.
    """
    if not conversation or conversation[-1][0] != "user":
        raise ValueError("the last turn of the conversation must have role 'user'")
    *history, last = conversation
    return [*((role, text[-LONGEST_TURN:]) for role, text in history if role in ("user", "assistant")), last]


def plain(token: Token) -> str:
    """A token in lower case, with a straight apostrophe."""
    return token.text.casefold().replace("\u2019", "'")


def latest_first(history: Sequence[Turn]) -> list[str]:
    """Texts of the turns, the user's first, the latest of each first: whose wording to prefer."""
    return [text for role in ("user", "assistant") for r, text in reversed(history) if r == role]


def question_features(conversation: Sequence[Turn]) -> tuple[float, ...]:
    """``QUESTION_FEATURES`` of the last turn."""
    *history, (_, last) = conversation
    said = tokens(last)
    words, wanted = {plain(token) for token in said}, {token.term for token in said if not token.is_stop}
    known = {token.term for _, text in history for token in tokens(text)}
    return (
        float(bool(words & _PERSONAL)),
        float(bool(words & _DEMONSTRATIVE)),
        float(bool(words & OPEN_SET)),  # words that point at a set named before
        float("the" in words),
        # Exactly rounded: the order of a set, which the hash seed moves, must not move it.
        min(2.0, math.fsum(map(idf, wanted)) / 30.0),
        len(wanted & known) / max(1, len(wanted)),
        max((idf(term) for term in wanted - known), default=0.0) / 10.0,
        float(any(token.is_capitalised and not token.is_stop for token in said[1:])),
    )


@lru_cache(maxsize=4)  # each head asks for the same table
def term_features(conversation: tuple[Turn, ...]) -> Mapping[str, tuple[float, ...]]:
    """``TERM_FEATURES`` of each content term of the earlier turns that the last turn does not have.

    Args:
        conversation: its turns, in a tuple.
    """
    *history, (_, last) = conversation
    users = [i for i, (role, _) in enumerate(history) if role == "user"]
    wanted = {token.term for token in tokens(last)}
    where: dict[str, list[int]] = {}  # in order of first use: it is the order of terms that are worth the same
    capitals, joined = dict[str, int](), dict[str, int]()
    for i, (_, text) in enumerate(history):
        said, begins = tokens(text), frozenset(stops.starts(text))
        for k, token in enumerate(said):
            if token.is_stop or token.term in wanted:
                continue
            where.setdefault(token.term, []).append(i)
            beside = (said[j] for j in (k - 1, k + 1) if 0 <= j < len(said))
            close = any(not b.is_stop and max(b.begin - token.end, token.begin - b.end) <= 1 for b in beside)
            joined[token.term] = joined.get(token.term, 0) + close
            named = token.is_capitalised and token.begin not in begins  # no sentence start explains it
            capitals[token.term] = capitals.get(token.term, 0) + named
    return {
        term: (
            idf(term) / 10.0,
            float(bool(users) and users[0] in at),
            float(not set(at) & set(users)),
            1.0 / (len(history) - at[-1]),
            math.log1p(len(at)),
            capitals[term] / len(at),
            joined[term] / len(at),
        )
        for term, at in where.items()
    }


def dependence(conversation: Sequence[Turn]) -> float:
    """Probability that the last turn needs the earlier ones to be understood; 0 where there are none."""
    if len(conversation) < 2:
        return 0.0
    return load_head("rewrite_dependence").probability(question_features(conversation))


def salience(conversation: Sequence[Turn]) -> dict[str, float]:
    """Probability, for each content term of the earlier turns, that a person would add it to the question."""
    head = load_head("rewrite")
    return {term: head.probability(row) for term, row in term_features(tuple(conversation)).items()}
