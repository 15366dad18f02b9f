"""Keywords of the conversation behind a question that stands alone, and several queries for one question.

What this is: term resolution in the spirit of QuReTeC (Voskarides et al., SIGIR 2020), with counts and a logistic
regression (`salience`) in place of a neural tagger. Weights of the retrieval terms follow Robertson and Sparck Jones
(1976): a term is worth its idf plus the log-odds that the answer has it. Where the first results of a retriever are at
hand, an expansion has the words that set them apart (pseudo-relevance feedback after Lavrenko and Croft,
*Relevance-Based Language Models*, SIGIR 2001; RM3 keeps the query's own words, as here).

What this is not: generation. It knows no synonyms and invents no word; feedback only knows words of the passages it is
given. A language model writes better queries (`benchmarks/results/rewrite.md`).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from intrinsics_core.embedded.heads import load_head
from intrinsics_core.embedded.rewrite.readings import LONGEST_PHRASE, is_framed, runs, surface
from intrinsics_core.embedded.rewrite.salience import (
    LONGEST_TURN,
    TERM_FEATURES,
    dependence,
    heard,
    latest_first,
    term_features,
)
from intrinsics_core.embedded.turns import Turn, is_left_as_it_is
from intrinsics_core.embedded.words import bm25, idf, terms, tokens

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
FEEDBACK_PASSAGES, FEEDBACK_TERMS = 5, 8
"""First results that feedback is taken from, and terms added from them."""


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A question made standalone. A result shows ``question``, as its ``query``, ``retrieval_query`` and ``terms``.

    Attributes:
        query: ``question`` followed by keywords in brackets, those of the question and then those of the conversation;
            ``original`` if unchanged.
        question: the question with a pronoun or a gap filled in, no keywords.
        original: the last turn as it was given.
        retrieval_query: ``query`` with the question's own keywords once more, so that a retriever that counts
            words weighs them above the history's. It has keywords of the history from a dependence of `RETRIEVED` on,
            and wherever a reading was taken.
        terms: ``(term, weight)``, heaviest first: stems for a retriever that takes weights. A term of the
            question weighs as often as it occurs, a term of the history at most ``HISTORY_WEIGHT``.
    """

    query: str
    question: str
    original: str
    retrieval_query: str
    terms: tuple[tuple[str, float], ...]


def rewrite(conversation: Sequence[Turn], question: str | None = None) -> Rewrite:
    """Keywords for the last turn of a conversation, so that it can be searched for alone.

    Args:
        conversation: ``(role, text)`` turns, oldest first, ending with the user's; roles other than
            ``"user"`` and ``"assistant"`` are passed over.
        question: the last turn as it stands alone; None: as it is.

    Returns:
        The rewrite; the very same text where there is no history, the question stands alone, or nothing can
        be added.

    Raises:
        ValueError: the conversation is empty or its last turn is not the user's.
    """
    turns = heard(conversation)
    *history, (_, original) = turns
    question = original if question is None else question
    weights: dict[str, float] = dict(Counter(terms(original[:LONGEST_TURN])))
    alone = Rewrite(original, original, original, original, _ordered(weights))
    if not history or len(original) > LONGEST_TURN or is_left_as_it_is(turns):
        return alone
    needed = dependence(turns)
    rewritten = question != original or needed >= load_head("rewrite_dependence").thresholds["rewrite"]
    if not rewritten and needed < RETRIEVED:
        return alone
    before = next((text for role, text in reversed(history) if role == "user"), "")
    # What "what about X?" put X in the place of is no longer asked about.
    past = set(terms(before)) - set(terms(question)) if is_framed(original, question) else set[str]()
    best = [term for term in keyword_terms(turns) if term not in past]
    context = spelled(latest_first(history), best[:KEYWORDS])
    if not context and question == original:
        return alone
    asked = asked_words(original)
    query = f"{question.rstrip()} ({', '.join([*asked, *context])})" if context else question
    worth = history_terms(turns)
    for term in sorted(worth, key=lambda term: -worth[term] * idf(term))[:TERMS]:
        weights[term] = HISTORY_WEIGHT * min(1.0, worth[term])
    searched = f"{query} {' '.join(asked)}".rstrip()
    return Rewrite(query if rewritten else original, question, original, searched, _ordered(weights))


def _ordered(weights: Mapping[str, float]) -> tuple[tuple[str, float], ...]:
    return tuple(sorted(((term, round(w, 4)) for term, w in weights.items()), key=lambda item: -item[1]))


def history_terms(conversation: Sequence[Turn]) -> dict[str, float]:
    """What each content term of the earlier turns is worth to the search, as a share of its idf.

    1 is a term as likely as not to be in the answer; terms that are worth nothing are left out.
    """
    head = load_head("rewrite_terms")
    worth = {term: 1.0 + head.logit(row) / idf(term) for term, row in term_features(tuple(conversation)).items()}
    return {term: value for term, value in worth.items() if value > 0.0}


def asked_words(question: str) -> list[str]:
    """The content words of a question as it spells them, each once."""
    return list({token.term: token.text for token in tokens(question) if not token.is_stop}.values())


def keyword_terms(conversation: Sequence[Turn]) -> list[str]:
    """Content terms of the earlier turns, the best keyword for the last turn first: by idf, at most `RAREST`, plus the
    log-odds that the answer has it. A word that only the assistant used, once, is one nat lower.
    """
    head, (alone, repeats) = load_head("rewrite_terms"), map(TERM_FEATURES.index, ("only_by_assistant", "repeats"))
    able = {t: row for t, row in term_features(tuple(conversation)).items() if len(t) > 1 or not t.isascii()}
    value = {term: min(RAREST, idf(term)) + head.logit(row) - (row[alone] > row[repeats]) for term, row in able.items()}
    return sorted((term for term in value if value[term] > 0.0), key=lambda term: -value[term])


def spelled(texts: Sequence[str], chosen: Sequence[str]) -> list[str]:
    """The chosen terms as the texts spell them, neighbours joined, each term once, in the order chosen.

    Earlier texts are preferred for the spelling, longer phrases for the joining.
    """
    left = set(chosen)
    found: dict[str, list[str]] = {}
    pieces = [(text, run) for text in texts for run in runs(text, lambda token: token.term in left)]
    ranked = sorted(pieces, key=lambda item: -len({token.term for token in item[1]}))
    # A term that only ever occurs in runs partly used up, or too long, goes in alone.
    for text, run in [*ranked, *((text, [token]) for text, held in pieces for token in held)]:
        taken = [token.term for token in run]
        if len(taken) <= LONGEST_PHRASE and len(set(taken)) == len(taken) and left.issuperset(taken):
            found[surface(text, run)] = taken
            left.difference_update(taken)
    rank = {term: i for i, term in enumerate(chosen)}
    return sorted(found, key=lambda phrase: min(rank[term] for term in found[phrase]))


def expand(rewritten: Rewrite, conversation: Sequence[Turn], passages: Sequence[str] = ()) -> list[tuple[str, str]]:
    """Queries for the last turn, each with the name of its strategy. Retrieve with each and fuse the lists.

    Strategies, in this order: ``original``, ``rewrite``, ``keywords``, ``pseudo-relevance`` (only with passages).
    A query that differs from an earlier one in case, spacing or closing punctuation alone is left out.

    Args:
        rewritten: the conversation's rewrite.
        conversation: ``(role, text)`` turns, oldest first, ending with the user's.
        passages: texts of the first results of a retriever, best first; those past ``FEEDBACK_PASSAGES`` are not read,
            and of each the first ``LONGEST_TURN`` characters.

    Returns:
        ``[(text, strategy)]``: ``original`` first, whatever it holds.
    """
    passages = [text[:LONGEST_TURN] for text in passages[:FEEDBACK_PASSAGES]]
    keywords = asked_words(rewritten.original[:LONGEST_TURN])
    if rewritten.query != rewritten.original:
        turns = heard(conversation)
        keywords += spelled([text for _, text in turns[-2::-1]], keyword_terms(turns)[:KEYWORDS])
    feedback = spelled(passages, feedback_terms(" ".join(keywords), passages))
    queries = [
        (rewritten.original, "original"),
        (rewritten.query, "rewrite"),
        (" ".join(keywords), "keywords"),
        (" ".join([*keywords, *feedback]) if feedback else "", "pseudo-relevance"),
    ]
    distinct: dict[str, tuple[str, str]] = {}
    for text, strategy in queries:
        key = " ".join(text.casefold().split()).rstrip(" ?!.")
        if key or strategy == "original":
            distinct.setdefault(key, (text, strategy))
    return list(distinct.values())


def feedback_terms(query: str, passages: Sequence[str]) -> list[str]:
    """The terms that set the first passages apart, best first, those of the query left out.

    A term's value is its share of each passage's words times its idf (at most ``RAREST``), summed over passages in
    proportion to their BM25 score. With three passages or more, a term must occur in two.
    """
    docs, wanted = [terms(text) for text in passages], terms(query)
    scores = bm25(wanted, docs)
    value: defaultdict[str, float] = defaultdict(float)
    for doc, score in zip(docs, scores, strict=True):
        for term, times in Counter(doc).items():
            value[term] += score * times / len(doc) * min(RAREST, idf(term))
    spread = Counter(term for doc in docs for term in set(doc))
    least = 2 if len(docs) > 2 else 1
    able = [t for t in value if spread[t] >= least and t not in wanted and (len(t) > 1 or not t.isascii())]
    return sorted(able, key=lambda term: -value[term])[:FEEDBACK_TERMS] if any(scores) else []
