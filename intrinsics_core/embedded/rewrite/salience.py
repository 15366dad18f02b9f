"""Which words of a conversation its last question leans on.

Two things are estimated, each by a small logistic regression over counts anyone can recompute:

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
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import groupby, pairwise

from intrinsics_core.embedded.heads import load_head
from intrinsics_core.embedded.rewrite import lexicon
from intrinsics_core.embedded.rewrite.lexicon import DEMONSTRATIVE, OPEN_SET, PERSONAL, plain
from intrinsics_core.embedded.turns import Turn
from intrinsics_core.embedded.words import Token, idf, tokens
from intrinsics_core.text import stops

LONGEST_TURN = 100_000
"""Characters of a turn that are read, its last ones; a last turn that is longer is not rewritten."""


def heard(conversation: Sequence[Turn]) -> list[Turn]:
    """The turns of user and assistant, of each but the last at most `LONGEST_TURN` characters.

    Raises:
        ValueError: the conversation is empty or its last turn is not the user's.
    """
    if not conversation or conversation[-1][0] != "user":
        raise ValueError("the last turn of the conversation must have role 'user'")
    *history, last = conversation
    return [*((role, text[-LONGEST_TURN:]) for role, text in history if role in ("user", "assistant")), last]


def sentences(text: str) -> list[list[Token]]:
    """Tokens by sentence. A coarse split on end marks and line breaks: enough for counting company."""
    begins = stops.starts(text)[1:]
    return [list(held) for _, held in groupby(tokens(text), key=lambda token: bisect_right(begins, token.begin))]


def latest_first(history: Sequence[Turn]) -> list[str]:
    """Texts of the turns, the user's first, the latest of each first: whose wording to prefer."""
    return [text for role in ("user", "assistant") for r, text in reversed(history) if r == role]


def _mass(terms: AbstractSet[str]) -> float:
    """Sum of the idf of terms, exactly rounded: the order of a set, which the hash seed moves, must not move it."""
    return math.fsum(map(idf, terms))


class _Talk:
    """What is counted of a last turn and of the turns before it."""

    def __init__(self, conversation: Sequence[Turn]) -> None:
        *history, (_, last) = conversation
        self.tokens = tokens(last)
        self.words = {plain(token) for token in self.tokens}
        self.wanted = {token.term for token in self.tokens if not token.is_stop}
        self.names_something = any(token.is_capitalised and not token.is_stop for token in self.tokens[1:])
        self.points = bool(self.words & (PERSONAL | DEMONSTRATIVE))
        self.turns = len(history)
        self.users = {i for i, (role, _) in enumerate(history) if role == "user"}
        self.assistants = set(range(self.turns)) - self.users
        self.last_user, self.first_user = max(self.users, default=-1), min(self.users, default=-1)
        self.last_assistant = max(self.assistants, default=-1)
        self.earlier = [{token.term for token in tokens(text)} for _, text in history]
        self.known = set().union(*self.earlier)


_OF_QUESTION: Mapping[str, Callable[[_Talk], float]] = {
    "pronoun": lambda talk: bool(talk.words & PERSONAL),
    "demonstrative": lambda talk: bool(talk.words & DEMONSTRATIVE),
    "open_set": lambda talk: bool(talk.words & OPEN_SET),  # words that point at a set named before
    "definite": lambda talk: "the" in talk.words,
    "content_terms": lambda talk: math.log1p(len(talk.wanted)),
    "idf_mass": lambda talk: min(2.0, _mass(talk.wanted) / 30.0),
    "known": lambda talk: len(talk.wanted & talk.known) / max(1, len(talk.wanted)),
    "rarest_new": lambda talk: max((idf(term) for term in talk.wanted - talk.known), default=0.0) / 10.0,
    "capitalised": lambda talk: talk.names_something,
    "no_verb": lambda talk: not talk.words & (lexicon.AUXILIARIES | lexicon.CONTRACTED),
    "short": lambda talk: len(talk.tokens) <= 3,
    "overlaps_last_turn": lambda talk: bool(talk.earlier and talk.wanted & talk.earlier[-1]),
    "turns": lambda talk: math.log1p(talk.turns),
}
QUESTION_FEATURES = tuple(_OF_QUESTION)


@dataclass(slots=True)
class _Term:
    """What is counted of one content term of the earlier turns."""

    term: str
    where: set[int] = field(default_factory=set)
    mentions: int = 0
    capitals: int = 0  # mentions with a capital that no sentence start explains
    joined: int = 0  # times that it stands next to another content word
    company: list[float] = field(default_factory=list)  # idf share of the question in each sentence that has the term
    has_digit: bool = False
    opens: bool = False  # in the first sentence of the assistant's last turn


_OF_TERM: Mapping[str, Callable[[_Term, _Talk], float]] = {
    "idf": lambda t, talk: idf(t.term) / 10.0,
    "in_last_user_turn": lambda t, talk: talk.last_user in t.where,
    "in_first_user_turn": lambda t, talk: talk.first_user in t.where,
    "share_of_user_turns": lambda t, talk: len(t.where & talk.users) / max(1, len(talk.users)),
    "in_last_assistant_turn": lambda t, talk: talk.last_assistant in t.where,
    "share_of_assistant_turns": lambda t, talk: len(t.where & talk.assistants) / max(1, len(talk.assistants)),
    "only_by_assistant": lambda t, talk: not t.where & talk.users,
    "opens_last_assistant_turn": lambda t, talk: t.opens,
    "recency": lambda t, talk: 1.0 / (talk.turns - max(t.where)),  # 1 / turns since the last mention
    "repeats": lambda t, talk: math.log1p(t.mentions),
    "capitalised": lambda t, talk: t.capitals / t.mentions,
    "has_digit": lambda t, talk: t.has_digit,
    "in_phrase": lambda t, talk: min(1.0, t.joined / t.mentions),
    "company": lambda t, talk: sum(t.company) / len(t.company),
    "turns": lambda t, talk: math.log1p(talk.turns),
    "pronoun": lambda t, talk: talk.points,
    "pronoun_and_first_user_turn": lambda t, talk: talk.points and talk.first_user in t.where,
    "pronoun_and_last_assistant_turn": lambda t, talk: talk.points and talk.last_assistant in t.where,
}
TERM_FEATURES = tuple(_OF_TERM)


def question_features(conversation: Sequence[Turn]) -> tuple[float, ...]:
    """``QUESTION_FEATURES`` of the last turn."""
    talk = _Talk(conversation)
    return tuple(float(of(talk)) for of in _OF_QUESTION.values())


def term_features(conversation: Sequence[Turn]) -> Mapping[str, tuple[float, ...]]:
    """``TERM_FEATURES`` of each content term of the earlier turns that the last turn does not have."""
    return _term_features(tuple(conversation))


@lru_cache(maxsize=4)  # each head asks for the same table
def _term_features(conversation: tuple[Turn, ...]) -> Mapping[str, tuple[float, ...]]:
    talk = _Talk(conversation)
    mass = _mass(talk.wanted) or 1.0
    found: dict[str, _Term] = {}
    for i, (_, text) in enumerate(conversation[:-1]):
        for n, sentence in enumerate(sentences(text)):
            # In order of first use: it is the order of the rows, and so of terms that are worth the same.
            present = dict.fromkeys(token.term for token in sentence if not token.is_stop)
            share = _mass(present.keys() & talk.wanted) / mass
            for name in present:
                term = found.setdefault(name, _Term(name))
                term.where.add(i)
                term.company.append(share)
                term.opens |= i == talk.last_assistant and n == 0
            for k, token in enumerate(sentence):
                if not token.is_stop:
                    term = found[token.term]
                    term.mentions += 1
                    term.capitals += k > 0 and token.is_capitalised
                    term.has_digit = token.is_number
            for left, right in pairwise(sentence):
                if not left.is_stop and not right.is_stop and right.begin - left.end <= 1:
                    found[left.term].joined += 1
                    found[right.term].joined += 1
    return {
        name: tuple(float(of(term, talk)) for of in _OF_TERM.values())
        for name, term in found.items()
        if name not in talk.wanted
    }


def dependence(conversation: Sequence[Turn]) -> float:
    """Probability that the last turn needs the earlier ones to be understood.

    0 where there are none, and for a full question about something named for the first time ("What is the capital of
    France?" after turns on cheese): it opens as a question, names something, points at nothing, and shares no content
    term with the earlier turns. The sets fitted on have too few of them for the head to learn it.
    """
    if len(conversation) < 2:
        return 0.0
    asked = _Talk(conversation)
    whole = len(asked.wanted) > 1 and plain(asked.tokens[0]) in lexicon.OPENERS and asked.names_something
    if whole and not (asked.points or asked.words & OPEN_SET or asked.wanted & asked.known):
        return 0.0
    return load_head("rewrite_dependence").probability(question_features(conversation))


def salience(conversation: Sequence[Turn]) -> dict[str, float]:
    """Probability, for each content term of the earlier turns, that a person would add it to the question."""
    head = load_head("rewrite")
    return {term: head.probability(row) for term, row in term_features(conversation).items()}
