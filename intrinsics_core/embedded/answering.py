"""Does a passage bear on a question, and can the question be answered from the passages?

A passage's score is a logistic regression over four numbers: the cosine of question and passage, how much of the
question's idf mass its best sentence holds, names and numbers of the question that it lacks, and whether the question
is negated. The weights were fitted by `training/answering.py` on SQuAD 2.0 and CLAPNQ with equal say, which keeps
cosine in charge: a regression fitted on SQuAD alone learns how its unanswerable questions were made, and fails
elsewhere. A question is as answerable as its best passage.

What this is not: reading comprehension. It knows that a passage is about the matter, hardly whether the one fact asked
for is stated; a question with a plausible false premise ("Who was the second king of ...", where there was one) passes.
A language model or a reader trained on SQuAD 2.0 does clearly better there. Thresholds do not transfer between
collections: fit them on some labelled questions of your own (`embedded.calibration`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from intrinsics_core.embedded.head import LinearHead, load_head
from intrinsics_core.embedded.lexical import idf, terms, tokens
from intrinsics_core.embedded.ranking import best_cosine
from intrinsics_core.errors import InvalidInput
from intrinsics_core.text.layout import laid_out

Vectors = NDArray[np.float32]
Label = Literal["relevant", "partially relevant", "irrelevant"]

FEATURES = ("cosine", "sentence_coverage", "names_missing", "negated")

_NEGATION = re.compile(r"\b(?:not|no|never|none|without|except|cannot)\b|n['’]t\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Relevance:
    """Judgement of one passage: label, and the probability that it answers the question."""

    label: Label
    score: float


@dataclass(frozen=True, slots=True)
class Answerable:
    """Whether passages answer a question: verdict, its probability, and the index of the passage that says so most."""

    answerable: bool
    probability: float
    best: int | None


def shipped_head() -> LinearHead:
    """The head in `data/heads/answering.json`: thresholds `relevant` and `partial` for a passage, `answerable` for a
    question."""
    return load_head("answering", FEATURES)


def context_relevance(
    question: str,
    passage: str,
    question_vectors: Vectors,
    passage_vectors: Vectors,
    *,
    relevant: float | None = None,
    partial: float | None = None,
    head: LinearHead | None = None,
) -> Relevance:
    """Judge one passage.

    Args:
        question: a question that stands alone.
        passage: text of the passage, title in front where it has one.
        question_vectors, passage_vectors: (windows, dim), rows L2-normalised.
        relevant: score from which a passage is relevant; None: the head's.
        partial: score from which it is at least partially relevant; None: the head's, or `relevant` where that is less.
        head: fitted numbers; None: the shipped ones.

    Raises:
        InvalidInput: `partial` above `relevant`, or either outside 0..1.
    """
    chosen = head or shipped_head()
    high = _threshold("relevant", relevant, chosen.thresholds["relevant"])
    low = _threshold("partial", partial, min(high, chosen.thresholds["partial"]))
    if low > high:
        raise InvalidInput("partial", expected=f"at most `relevant` ({high})", got=str(low))
    score = passage_score(question, passage, question_vectors, passage_vectors, head=chosen)
    return Relevance("relevant" if score >= high else "partially relevant" if score >= low else "irrelevant", score)


def answerability(
    question: str,
    passages: Sequence[str],
    question_vectors: Vectors,
    passage_vectors: Sequence[Vectors],
    *,
    threshold: float | None = None,
    head: LinearHead | None = None,
) -> Answerable:
    """Judge whether a question can be answered from passages. Without passages it cannot: probability 0.

    Args:
        question: a question that stands alone.
        passages: their texts, title in front where they have one, in any order.
        question_vectors: (windows, dim), rows L2-normalised.
        passage_vectors: the same per passage.
        threshold: probability from which the question counts as answerable; None: the head's.
        head: fitted numbers; None: the shipped ones.

    Raises:
        InvalidInput: not one array of vectors per passage, or a threshold outside 0..1.
    """
    chosen = head or shipped_head()
    limit = _threshold("threshold", threshold, chosen.thresholds["answerable"])
    if len(passage_vectors) != len(passages):
        raise InvalidInput(
            "passage_vectors", expected=f"one per passage ({len(passages)})", got=str(len(passage_vectors))
        )
    scores = [
        passage_score(question, text, question_vectors, rows, head=chosen)
        for text, rows in zip(passages, passage_vectors, strict=True)
    ]
    if not scores:
        return Answerable(False, 0.0, None)
    best = max(range(len(scores)), key=scores.__getitem__)
    return Answerable(scores[best] >= limit, scores[best], best)


def passage_score(
    question: str,
    passage: str,
    question_vectors: Vectors,
    passage_vectors: Vectors,
    *,
    head: LinearHead | None = None,
) -> float:
    """Probability, 0 to 1, that the passage answers the question; 0 where either is empty."""
    if not question.strip() or not passage.strip():
        return 0.0
    chosen = head or shipped_head()
    return chosen.probability(features(question, passage, question_vectors, passage_vectors))


def features(question: str, passage: str, question_vectors: Vectors, passage_vectors: Vectors) -> tuple[float, ...]:
    """The numbers named in `FEATURES`: the first two to 1, names missing in words never seen (at most 3), 0 or 1."""
    asked = _asked(question)
    held, lacking = 0.0, set(asked.names)
    for have in _read(passage) if len(passage) <= _KEPT else _sentences(passage):
        held = max(held, sum(weight for term, weight in asked.weights.items() if term in have))
        lacking -= have
    missing = sum(idf(term) for term in sorted(lacking)) / _IDF_TOP
    return (
        best_cosine(question_vectors, passage_vectors),
        held / asked.total,
        min(missing, 3.0),
        float(asked.negated),
    )


_KEPT = 20_000  # characters of the longest passage whose terms are kept: the cache is bounded in bytes too
_IDF_TOP = 10.0  # nats; about the idf of a word never seen


@dataclass(frozen=True)
class _Asked:
    weights: dict[str, float]
    total: float
    names: frozenset[str]
    negated: bool


@lru_cache(maxsize=256)
def _asked(question: str) -> _Asked:
    words = tokens(question)
    weights = {term: idf(term) for term in sorted(set(terms(question)))}
    # The first word is capitalised whatever it is.
    names = frozenset(
        t.term for i, t in enumerate(words) if not t.is_stop and (t.is_number or (i and t.is_capitalised))
    )
    return _Asked(
        weights,
        sum(weights.values()) or 1.0,
        names,
        bool(_NEGATION.search(question)),
    )


@lru_cache(maxsize=1024)
def _read(passage: str) -> tuple[frozenset[str], ...]:
    return tuple(_sentences(passage))


def _sentences(passage: str) -> Iterator[frozenset[str]]:
    """The content terms of each sentence."""
    return (frozenset(terms(span.text)) for span in laid_out(passage))


def _threshold(name: str, given: float | None, default: float) -> float:
    value: Any = default if given is None else given
    if not 0.0 <= value <= 1.0:  # also catches NaN
        raise InvalidInput(name, expected="a probability, 0 to 1", got=repr(value))
    return float(value)
