"""A question made to stand alone, without a language model.

What this is: term and span substitution. A pronoun that can only point back is replaced by the phrase of the
conversation most likely meant ("Is it treatable?" after a turn on throat cancer), "what about X?" takes the
form of the question before it where the two match, and the few words of the earlier turns most likely to be
in the answer are added as keywords. The words come from ``salience``: term resolution in the spirit of
QuReTeC (Voskarides et al., SIGIR 2020), span edits as in *Incomplete Utterance Rewriting as Semantic
Segmentation* (Liu et al., EMNLP 2020), with counts and a logistic regression in place of a neural tagger.
Weights of the retrieval terms follow Robertson and Sparck Jones (1976): a term is worth its idf plus the
log-odds that the answer has it.

What this is not: generation. It never invents a word, paraphrases, or resolves what is only implied ("and the
rest?"). It is made for English; elsewhere a question is only given keywords. A language model writes
better sentences and knows synonyms; what is close to it is the retrieval that the rewrite buys (see
``benchmarks/results/rewrite.md``).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from intrinsics_core.embedded.query.chooser import choice, is_elliptic
from intrinsics_core.embedded.query.fragments import is_framed
from intrinsics_core.embedded.query.lexicon import SMALL_TALK, plain
from intrinsics_core.embedded.query.phrases import spelled
from intrinsics_core.embedded.query.salience import (
    LONGEST_TURN,
    TERM_FEATURES,
    Turn,
    dependence,
    heard,
    latest_first,
    term_features,
)
from intrinsics_core.embedded.scoring.head import load_head
from intrinsics_core.embedded.turns import is_left_as_it_is
from intrinsics_core.embedded.words import idf, terms, tokens

KEYWORDS = 6
"""Terms of the history in a rewritten query: where recall stops rising on the dialogs measured."""
TERMS = 20
"""Terms of the history in the weighted retrieval form."""
HISTORY_WEIGHT = 0.3
"""What a history term as certain as a term of the question is worth, next to it."""
RETRIEVED = 0.3
"""Least dependence for keywords in the retrieval form: a needless one costs a retriever little, a missing one much."""
RAREST = 7.0
"""Idf above which a word counts as no rarer when keywords are chosen: beyond it are slips of the pen."""


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A question made standalone. A result shows ``question``, as its ``query``, and ``retrieval_query``.

    Attributes:
        query: the standalone query, for any retriever: ``question`` followed by keywords in brackets, those of the
            question and then those of the conversation; ``original`` if unchanged.
        question: the question with a pronoun or a gap filled in, no keywords: the more readable, and the weaker for
            retrieval.
        original: the last turn as it was given.
        retrieval_query: ``query`` with the question's own keywords once more, so that a retriever that counts
            words weighs them above the history's. It has keywords of the history from a dependence of `RETRIEVED` on,
            also where the question is left alone, and wherever a reading was taken.
        terms: ``(term, weight)``, heaviest first: stems for a retriever that takes weights. A term of the
            question weighs as often as it occurs, a term of the history at most ``HISTORY_WEIGHT``.
        dependence: probability that the question needs the conversation, 0 to 1.
        changed: whether ``query`` differs from ``original``.
    """

    query: str
    question: str
    original: str
    retrieval_query: str
    terms: tuple[tuple[str, float], ...]
    dependence: float
    changed: bool


def rewrite(
    conversation: Sequence[Turn], *, threshold: float | None = None, keywords: int = KEYWORDS, meant: str | None = None
) -> Rewrite:
    """Rewrite the last turn of a conversation so that it can be understood, and searched for, alone.

    Args:
        conversation: ``(role, text)`` turns, oldest first, ending with the user's; roles other than
            ``"user"`` and ``"assistant"`` are passed over.
        threshold: least dependence for a rewrite (default: the shipped head's thresholds, ``rewrite`` where a
            pronoun or an ellipsis points back, ``pointing_nowhere`` elsewhere). 0 always rewrites, above 1 never.
        keywords: at most so many terms of the history are added.
        meant: the reading that was chosen (`chooser.choice`), or the last turn itself where none was; None: the rules
            choose. A reading that was chosen is taken whatever the threshold.

    Returns:
        The rewrite; the very same text where there is no history, the question stands alone, or nothing can
        be added.

    Raises:
        ValueError: the conversation is empty or its last turn is not the user's.

    >>> rewrite([("user", "What is throat cancer?")]).changed
    False
    """
    turns = heard(conversation)
    *history, (_, original) = turns
    weights: dict[str, float] = dict(Counter(terms(original[:LONGEST_TURN])))
    is_question = len(original) <= LONGEST_TURN  # else it is a text
    needed = dependence(turns) if is_question else 0.0
    alone = Rewrite(original, original, original, original, _ordered(weights), needed, False)
    if not history or not is_question or is_left_as_it_is(turns):
        return alone
    question = choice(conversation, threshold).by_rules if meant is None else meant
    # A question that points to nothing has to look more dependent: to keep it alone costs no recall on MT-RAG.
    name = "rewrite" if question != original or is_elliptic(original) else "pointing_nowhere"
    least = load_head("rewrite_dependence").thresholds[name] if threshold is None else threshold
    rewritten = question != original or needed >= least
    # Needless keywords cost a retriever little, missing ones much.
    if not rewritten and (threshold is not None or needed < RETRIEVED):
        return alone
    # What "what about X?" put X in the place of is no longer asked about.
    before = next((text for role, text in reversed(history) if role == "user"), "")
    replaced = set(terms(before)) - set(terms(question)) if is_framed(original, question) else set[str]()
    best = [term for term in keyword_terms(turns) if term not in replaced]
    context = spelled(latest_first(turns[:-1]), best[:keywords])
    if not context and question == original:
        return alone
    asked = asked_words(original)
    query = f"{question.rstrip()} ({', '.join([*asked, *context])})" if context else question
    worth = history_terms(turns)
    for term in sorted(worth, key=lambda term: -worth[term] * idf(term))[:TERMS]:
        weights[term] = HISTORY_WEIGHT * min(1.0, worth[term])
    return Rewrite(
        query=query if rewritten else original,
        question=question,
        original=original,
        retrieval_query=f"{query} {' '.join(asked)}".rstrip(),
        terms=_ordered(weights),
        dependence=needed,
        changed=rewritten,
    )


def _ordered(weights: Mapping[str, float]) -> tuple[tuple[str, float], ...]:
    return tuple(sorted(((term, round(w, 4)) for term, w in weights.items()), key=lambda item: -item[1]))


def history_terms(conversation: Sequence[Turn]) -> dict[str, float]:
    """What each content term of the earlier turns is worth to the search, as a share of its idf.

    1 is a term as likely as not to be in the answer; terms that are worth nothing are left out.
    """
    head = load_head("rewrite_terms")
    worth = {term: 1.0 + head.logit(row) / idf(term) for term, row in term_features(conversation).items()}
    return {term: value for term, value in worth.items() if value > 0.0}


def asked_words(question: str) -> list[str]:
    """The content words of a question as it spells them, each once, small talk left out."""
    content = (t for t in tokens(question) if not t.is_stop and plain(t) not in SMALL_TALK)
    return list({token.term: token.text for token in content}.values())


def keyword_terms(conversation: Sequence[Turn]) -> list[str]:
    """Content terms of the earlier turns, the best keyword for the last turn first.

    Ordered as ``history_terms`` by idf plus log-odds, but with idf held at ``RAREST`` and a word that only
    the assistant used, once, put one nat lower: such words are seldom what a person would search for.
    """
    head = load_head("rewrite_terms")
    alone, repeats = TERM_FEATURES.index("only_by_assistant"), TERM_FEATURES.index("repeats")
    value: dict[str, float] = {}
    for term, row in term_features(conversation).items():
        passing = bool(row[alone]) and row[repeats] < math.log1p(2)
        if len(term) == 1 and term.isascii():
            continue
        value[term] = min(RAREST, idf(term)) + head.logit(row) - passing
    return sorted((term for term in value if value[term] > 0.0), key=lambda term: -value[term])
