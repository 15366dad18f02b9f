"""Several queries for one question, without a language model.

What this is: the question as asked, its rewrite, a keyword form, and, where the first results of a retriever are
at hand, the keyword form with the words that set those results apart (pseudo-relevance feedback after Lavrenko and
Croft, *Relevance-Based Language Models*, SIGIR 2001; RM3 keeps the query's own words, as here). Retrieve with each
and fuse the lists (reciprocal rank fusion).

What this is not: synonyms, sampled answers or reverse questions. Feedback only knows words of the passages it is
given: where those are off the topic it drifts further. A language model writes what the passages do not say.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from intrinsics_core.embedded.query.phrases import spelled
from intrinsics_core.embedded.query.rewriting import KEYWORDS, RAREST, Rewrite, asked_words, keyword_terms, rewrite
from intrinsics_core.embedded.query.salience import LONGEST_TURN, Turn, heard
from intrinsics_core.embedded.words import bm25, idf, terms

FEEDBACK_PASSAGES = 5
"""First results that feedback is taken from."""
FEEDBACK_TERMS = 8
"""Terms added from them."""


def expand(
    conversation: Sequence[Turn], passages: Sequence[str] = (), *, rewritten: Rewrite | None = None
) -> list[tuple[str, str]]:
    """Queries for the last turn, each with the name of its strategy.

    Strategies, in this order: ``original``, ``rewrite``, ``keywords``, ``pseudo-relevance`` (only with passages).
    A query that differs from an earlier one in case, spacing or closing punctuation alone is left out.

    Args:
        conversation: ``(role, text)`` turns, oldest first, ending with the user's.
        passages: texts of the first results of a retriever, best first; those past ``FEEDBACK_PASSAGES`` are not read,
            and of each the first ``LONGEST_TURN`` characters.
        rewritten: the conversation's rewrite, where that was made before.

    Returns:
        ``[(text, strategy)]``: ``original`` first, whatever it holds.

    Raises:
        ValueError: the conversation is empty or its last turn is not the user's.
    """
    found = rewritten or rewrite(conversation)
    asked = asked_words(found.original[:LONGEST_TURN])
    passages = [text[:LONGEST_TURN] for text in passages[:FEEDBACK_PASSAGES]]
    context: list[str] = []
    if found.changed:
        turns = heard(conversation)
        context = spelled([text for _, text in turns[-2::-1]], keyword_terms(turns)[:KEYWORDS])
    keywords = [*asked, *context]
    feedback = spelled(passages, feedback_terms(" ".join(keywords), passages))
    queries = [
        (found.original, "original"),
        (found.query, "rewrite"),
        (" ".join(keywords), "keywords"),
        (" ".join([*keywords, *feedback]) if feedback else "", "pseudo-relevance"),
    ]
    distinct: dict[str, tuple[str, str]] = {}
    for text, strategy in queries:
        key = " ".join(text.casefold().split()).rstrip(" ?!.")
        if key or strategy == "original":
            distinct.setdefault(key, (text, strategy))
    return list(distinct.values())


def feedback_terms(query: str, passages: Sequence[str], count: int = FEEDBACK_TERMS) -> list[str]:
    """The terms that set the first passages apart, best first, those of the query left out.

    A term's value is its share of each passage's words times its idf (at most ``RAREST``), summed over passages in
    proportion to their BM25 score. With three passages or more, a term must occur in two.
    """
    docs = [terms(text) for text in passages[:FEEDBACK_PASSAGES]]
    wanted = terms(query)
    scores = bm25(wanted, docs)
    total = sum(scores)
    if not total:
        return []
    value: defaultdict[str, float] = defaultdict(float)
    spread: Counter[str] = Counter()
    for doc, score in zip(docs, scores, strict=True):
        for term, times in Counter(doc).items():
            spread[term] += 1
            value[term] += score / total * times / len(doc) * min(RAREST, idf(term))
    least = 2 if len(docs) > 2 else 1
    able = [t for t in value if spread[t] >= least and t not in wanted and (len(t) > 1 or not t.isascii())]
    return sorted(able, key=lambda term: -value[term])[:count]
