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
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from itertools import pairwise

from intrinsics_core.embedded.head import LinearHead, load_head
from intrinsics_core.embedded.lexical import Token, idf, tokens, word_set

Turn = tuple[str, str]
"""Role (``"user"`` or ``"assistant"``) and text."""

TERM_FEATURES = (
    "idf",  # background idf / 10
    "in_last_user_turn",
    "in_first_user_turn",
    "share_of_user_turns",
    "in_last_assistant_turn",
    "share_of_assistant_turns",
    "only_by_assistant",
    "opens_last_assistant_turn",  # in its first sentence
    "recency",  # 1 / turns since the last mention
    "repeats",  # ln(1 + mentions)
    "capitalised",  # share of mentions with a capital that no sentence start explains
    "has_digit",
    "in_phrase",  # share of mentions next to another content word
    "company",  # mean idf share of the question in the sentences that mention the term
    "turns",  # ln(1 + earlier turns)
    "pronoun",  # the question has a third-person pronoun or demonstrative
    "pronoun_and_first_user_turn",
    "pronoun_and_last_assistant_turn",
)
QUESTION_FEATURES = (
    "pronoun",
    "demonstrative",
    "open_set",  # "other", "any", "both", "one": words that point at a set named before
    "definite",  # "the"
    "content_terms",  # ln(1 + distinct content terms)
    "idf_mass",  # sum of their idf / 30, at most 2
    "known",  # share of them already in the conversation
    "rarest_new",  # idf / 10 of the rarest one that is not
    "capitalised",
    "no_verb",  # none of the auxiliaries
    "short",  # three words or fewer
    "overlaps_last_turn",
    "turns",
)

PERSONAL = word_set(
    "it its it's itself they they're their theirs them themselves he he's him his himself she she's her hers herself"
)
DEMONSTRATIVE = word_set("this that that's these those there such")
OPEN_SET = word_set("other others else another more any some same both one ones either neither rest")
AUXILIARY = word_set(
    "is are was were am do does did can could should would will has have had may might must isn't aren't"
    " wasn't don't doesn't didn't can't won't what's who's where's how's it's that's"
)

QUESTION_OPENER = AUXILIARY | word_set("what who whom whose which when where why how")

_SENTENCE_END = re.compile(r"(?<=[.!?\u2026\u3002\uff01\uff1f])[\s\"'\u201d\u2019)\]]+|\n+")


def plain(token: Token) -> str:
    """A token's lower-case form with a straight apostrophe, as the word tables spell it."""
    return token.text.casefold().replace("\u2019", "'")


def sentences(text: str) -> list[list[Token]]:
    """Tokens by sentence. A coarse split on end marks and line breaks: enough for counting company."""
    found: list[list[Token]] = [[]]
    ends = iter([*(match.end() for match in _SENTENCE_END.finditer(text)), len(text) + 1])
    end = next(ends)
    for token in tokens(text):
        while token.begin >= end:
            end = next(ends)
            found.append([])
        found[-1].append(token)
    return [sentence for sentence in found if sentence]


def latest_first(history: Sequence[Turn]) -> list[str]:
    """Texts of the turns, the user's first, the latest of each first: whose wording to prefer."""
    return [text for role in ("user", "assistant") for r, text in reversed(history) if r == role]


def _mass(terms: AbstractSet[str]) -> float:
    """Sum of the idf of terms, exactly rounded: the order of a set, which the hash seed moves, must not move it."""
    return math.fsum(map(idf, terms))


def _points_back(question: Sequence[Token]) -> bool:
    return any(plain(token) in PERSONAL or plain(token) in DEMONSTRATIVE for token in question)


def term_features(conversation: Sequence[Turn]) -> Mapping[str, tuple[float, ...]]:
    """``TERM_FEATURES`` of each content term of the earlier turns that the last turn does not have."""
    return _term_features(tuple(conversation))


@lru_cache(maxsize=4)  # each head asks for the same table
def _term_features(conversation: tuple[Turn, ...]) -> Mapping[str, tuple[float, ...]]:
    *history, (_, last) = conversation
    question = tokens(last)
    wanted = {token.term for token in question if not token.is_stop}
    mass = _mass(wanted) or 1.0
    users = {i for i, (role, _) in enumerate(history) if role == "user"}
    assistants = set(range(len(history))) - users
    last_user, first_user = max(users, default=-1), min(users, default=-1)
    last_assistant = max(assistants, default=-1)

    turns_with: defaultdict[str, set[int]] = defaultdict(set)
    mentions: Counter[str] = Counter()
    capitals: Counter[str] = Counter()
    phrases: Counter[str] = Counter()
    company: defaultdict[str, list[float]] = defaultdict(list)
    digits: dict[str, bool] = {}
    opening: set[str] = set()
    for i, (_, text) in enumerate(history):
        for n, sentence in enumerate(sentences(text)):
            # In order of first use: it is the order of the rows, and so of terms that are worth the same.
            present = dict.fromkeys(token.term for token in sentence if not token.is_stop)
            share = _mass(present.keys() & wanted) / mass
            if i == last_assistant and n == 0:
                opening = set(present)
            for term in present:
                turns_with[term].add(i)
                company[term].append(share)
            for k, token in enumerate(sentence):
                if not token.is_stop:
                    mentions[token.term] += 1
                    capitals[token.term] += k > 0 and token.is_capitalised
                    digits[token.term] = token.is_number
            for left, right in pairwise(sentence):
                if not left.is_stop and not right.is_stop and right.begin - left.end <= 1:
                    phrases.update((left.term, right.term))

    pronoun = float(_points_back(question))
    rows: dict[str, tuple[float, ...]] = {}
    for term, where in turns_with.items():
        if term in wanted:
            continue
        first, closing = float(first_user in where), float(last_assistant in where)
        rows[term] = (
            idf(term) / 10.0,
            float(last_user in where),
            first,
            len(where & users) / max(1, len(users)),
            closing,
            len(where & assistants) / max(1, len(assistants)),
            float(not where & users),
            float(term in opening),
            1.0 / (len(history) - max(where)),
            math.log1p(mentions[term]),
            capitals[term] / mentions[term],
            float(digits[term]),
            min(1.0, phrases[term] / mentions[term]),
            sum(company[term]) / len(company[term]),
            math.log1p(len(history)),
            pronoun,
            pronoun * first,
            pronoun * closing,
        )
    return rows


def question_features(conversation: Sequence[Turn]) -> tuple[float, ...]:
    """``QUESTION_FEATURES`` of the last turn."""
    *history, (_, last) = conversation
    question = tokens(last)
    words = {plain(token) for token in question}
    wanted = {token.term for token in question if not token.is_stop}
    earlier = [{token.term for token in tokens(text)} for _, text in history]
    known = set().union(*earlier)
    return (
        float(bool(words & PERSONAL)),
        float(bool(words & DEMONSTRATIVE)),
        float(bool(words & OPEN_SET)),
        float("the" in words),
        math.log1p(len(wanted)),
        min(2.0, _mass(wanted) / 30.0),
        len(wanted & known) / max(1, len(wanted)),
        max((idf(term) for term in wanted - known), default=0.0) / 10.0,
        float(any(token.is_capitalised and not token.is_stop for token in question[1:])),
        float(not words & AUXILIARY),
        float(len(question) <= 3),
        float(bool(earlier and wanted & earlier[-1])),
        math.log1p(len(history)),
    )


def changes_topic(conversation: Sequence[Turn]) -> bool:
    """Whether the last turn is a full question about something named for the first time.

    It opens as a question, names something, points at nothing, and shares no content term with the earlier
    turns ("What is the capital of France?" after turns on cheese).
    """
    *history, (_, last) = conversation
    question = tokens(last)
    words = {plain(token) for token in question}
    content = {token.term for token in question if not token.is_stop}
    return (
        len(content) > 1
        and plain(question[0]) in QUESTION_OPENER
        and not words & (PERSONAL | DEMONSTRATIVE | OPEN_SET)
        and any(token.is_capitalised and not token.is_stop for token in question[1:])
        and not any(token.term in content for _, text in history for token in tokens(text))
    )


def dependence(conversation: Sequence[Turn], head: LinearHead | None = None) -> float:
    """Probability that the last turn needs the earlier ones to be understood.

    0 where there are none, or the last turn ``changes_topic``: the sets fitted on have too few such turns for
    the head to learn it.
    """
    if len(conversation) < 2 or changes_topic(conversation):
        return 0.0
    return (head or load_head("rewrite_dependence")).probability(question_features(conversation))


def salience(conversation: Sequence[Turn], head: LinearHead | None = None) -> dict[str, float]:
    """Probability, for each content term of the earlier turns, that a person would add it to the question."""
    head = head or load_head("rewrite")
    return {term: head.probability(row) for term, row in term_features(conversation).items()}
