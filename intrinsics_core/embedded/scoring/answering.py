"""Does a passage bear on a question, and can the question be answered from the passages?

A passage's score is a logistic regression over the cosine of question and passage, how much of the question's idf mass
its best sentence holds and, where there is a reader, what it makes of the question beside the window of sentences that
hold most of its words. A question is as answerable as its best passage.

The weights were fitted by `training/answering.py`. Without the reader one head serves both questions
(``answering.json``). With it there are two: whether a passage is relevant, which orders lists and is told first by what
it is about (``relevance_read.json``), and whether the answer is stated, which is told first by the reader
(``answerability_read.json``).

What this is not: a language model. Without the reader it knows that a passage is about the matter, hardly whether the
one fact asked for is stated; with it a question with a plausible false premise ("Who was the second king of ...", where
there was one) passes less often, but still. Thresholds do not transfer between collections: fit them on some labelled
questions of your own (`calibrate`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from intrinsics_core.embedded.lexical import idf, is_known, is_unheard_of, terms, tokens
from intrinsics_core.embedded.scoring.head import SURE, LinearHead, bounded, just_below, load_head
from intrinsics_core.embedded.scoring.keys import keys_of
from intrinsics_core.protocol.errors import InvalidInput
from intrinsics_core.text.cleaning import cleaned
from intrinsics_core.text.courtesy import GREETING
from intrinsics_core.text.layout import laid_out
from intrinsics_core.text.memory import remembered
from intrinsics_core.text.outline import columns_of
from intrinsics_core.text.questions import AUXILIARY
from intrinsics_core.text.reading import as_read

Vectors = NDArray[np.float32]
Label = Literal["relevant", "partially relevant", "irrelevant"]

FEATURES = ("cosine", "sentence_coverage")
READ = "reader"
"""The reader's column: its logit of *answers*, from -1 where it is sure of no to 1 where it is sure of yes."""

_JOINED = re.compile(
    r",? and (?P<second>(?:who|whom|whose|what|which|when|where|why|how"
    rf"|(?:{AUXILIARY})"
    r"(?= (?:there|it|they|he|she|i|you|we|the|an?|my|your|our|this|that|these|those)\b))\b)",
    re.IGNORECASE,
)
# Questions that ask nothing of a document.
_TALK = re.compile(
    r"\b(?:ask (?:you|me)|help me|have a (?:minute|moment|question)|am i right|is that (?:right|okay|correct|all))\b",
    re.IGNORECASE,
)
_AND = re.compile(r"\A(?:and|or|also),? ", re.IGNORECASE)
_COMPARES = re.compile(
    r"\b(?:or|than|both|the (?:two|three|four)|either|neither|between|better|versus|vs|compar\w+|differ\w*)\b",
    re.IGNORECASE,
)
# Of those words, what surely compares: "Do I call HR or my manager?" may offer a wrong side.
_COMPARISON = re.compile(
    r"\b(?:than|between|better|worse|versus|vs|compar\w+|differ\w*)\b"
    r"|\b(?:which|who|what)\b[^.?!]{0,80}\bor\b",
    re.IGNORECASE,
)
_GREETS = re.compile(rf"\A\W*(?:{GREETING}|dear)\b[^,!:]{{0,30}}[,!:]", re.IGNORECASE)
_LONGEST = 300  # characters of a question within which a second one, or a comparison, is looked for
_CLAUSE = 4  # words from which on a part is a question of its own
_TITLED = 0.7  # share of capitalised words from which on capitals name nothing
_WINDOW = 180  # words of a passage that are read; the reader takes them in two windows, of which the best counts


@dataclass(frozen=True, slots=True)
class Relevance:
    """Judgement of one passage: label, and the probability that it is relevant."""

    label: Label
    score: float


@dataclass(frozen=True, slots=True)
class Answerable:
    """Whether passages answer a question: verdict, its probability, and the index of the text that says so most."""

    answerable: bool
    probability: float
    best: int | None


def shipped_head(of: Literal["relevance", "answerability"], *, reads: bool = False) -> LinearHead:
    """The shipped numbers of context relevance or of answerability; without a reader both have the same.

    Thresholds of relevance: `relevant` and `partial`. Of answerability: `answerable`, and `refused` and `accepted`,
    between which the head does not know.
    """
    return load_head(f"{of}_read", (*FEATURES, READ)) if reads else load_head("answering", FEATURES)


def context_relevance(
    question: str,
    passage: str,
    question_vectors: Vectors,
    passage_vectors: Vectors,
    *,
    relevant: float | None = None,
    partial: float | None = None,
    head: LinearHead | None = None,
    logit: float | None = None,
) -> Relevance:
    """Judge one passage.

    Args:
        question: a question that stands alone.
        passage: text of the passage, title in front where it has one.
        question_vectors, passage_vectors: (windows, dim), rows L2-normalised.
        relevant: score from which a passage is relevant; None: the head's.
        partial: score from which it is at least partially relevant; None: the head's, or `relevant` where that is less.
        head: fitted numbers; None: the shipped ones, those that read where there is a logit.
        logit: a reader's of the question and `to_read`.

    Raises:
        InvalidInput: `partial` above `relevant`, or either outside 0..1.
    """
    chosen = head or shipped_head("relevance", reads=logit is not None)
    high = _threshold("relevant", relevant, chosen.thresholds["relevant"])
    low = _threshold("partial", partial, min(high, chosen.thresholds["partial"]))
    if low > high:
        raise InvalidInput("partial is too large", expected=f"at most `relevant` ({high})", got=str(low))
    score = passage_score(question, passage, question_vectors, passage_vectors, head=chosen, logit=logit)
    return Relevance("relevant" if score >= high else "partially relevant" if score >= low else "irrelevant", score)


def partly(found: Relevance, relevant: float) -> Relevance:
    """A judgement that is partially relevant at most. ``relevant``: the score from which a passage is relevant."""
    return Relevance("partially relevant", just_below(relevant)) if found.label == "relevant" else found


def answerability(
    question: str,
    passages: Sequence[str],
    question_vectors: Vectors,
    passage_vectors: Sequence[Vectors],
    *,
    threshold: float | None = None,
    head: LinearHead | None = None,
    logits: Sequence[float | None] | None = None,
) -> Answerable:
    """Judge whether a question can be answered from passages. Without passages it cannot: probability 0.

    Args:
        question: a question that stands alone.
        passages: their texts, title in front where they have one, in any order.
        question_vectors: (windows, dim), rows L2-normalised.
        passage_vectors: the same per passage.
        threshold: probability from which the question counts as answerable; None: the head's.
        head: fitted numbers; None: the shipped ones, those that read where there are logits.
        logits: a reader's per passage, of the question and `to_read`.

    Raises:
        InvalidInput: not one array of vectors per passage, or a threshold outside 0..1.
    """
    chosen = head or shipped_head("answerability", reads=logits is not None)
    limit = _threshold("threshold", threshold, chosen.thresholds["answerable"])
    if len(passage_vectors) != len(passages):
        raise InvalidInput(
            "passage_vectors has the wrong length",
            expected=f"one per passage ({len(passages)})",
            got=str(len(passage_vectors)),
        )
    scores = [
        passage_score(question, text, question_vectors, rows, head=chosen, logit=logit)
        for text, rows, logit in zip(passages, passage_vectors, logits or [None] * len(passages), strict=True)
    ]
    if not scores:
        return Answerable(False, 0.0, None)
    best = max(range(len(scores)), key=scores.__getitem__)
    probability = scores[best]
    if lacks_a_side(question, passages) or is_unknown(question, passages):
        probability = min(probability, just_below(limit))
    return Answerable(probability >= limit, probability, best)


def passage_score(
    question: str,
    passage: str,
    question_vectors: Vectors,
    passage_vectors: Vectors,
    *,
    head: LinearHead | None = None,
    logit: float | None = None,
) -> float:
    """Probability, 0 to 1, that the passage is relevant to the question; 0 where either is empty, or nothing of the
    passage was shown to the reader of a head that reads.

    With the head of answerability: that the answer is stated in it.
    """
    if not question.strip() or not passage.strip():
        return 0.0
    chosen = head or shipped_head("relevance", reads=logit is not None)
    row = features(question, passage, question_vectors, passage_vectors)
    if len(chosen.features) == len(row):
        return chosen.probability(row)
    return 0.0 if logit is None else chosen.probability((*row, read_as(logit)))


def read_as(logit: float) -> float:
    """A reader's logit of *answers* as a column of a head, -1..1."""
    return bounded(logit) / SURE


def asked_of(question: str) -> tuple[str, ...]:
    """What a reader is asked of a passage: the question, and of one that joins two ("Who built it, and when?") each
    part that stands alone. What counts is the mean of its logits.

    What stands behind the last question is left out ("Please answer in one sentence."): a statement there draws the
    reader towards *answers*.
    """
    sentences = [question[span.begin : span.end].strip() for span in laid_out(question)]
    asking = [i for i, each in enumerate(sentences) if each.endswith("?") and len(each.split()) >= _CLAUSE - 1]
    if asking and asking[-1] + 1 < len(sentences):
        question = " ".join(sentences[: asking[-1] + 1])
    parts = [part for i in asking for part in _joined(_AND.sub("", sentences[i]))]
    parts = [
        f"{part[:1].upper()}{part[1:]}" for part in parts if len(part.split()) >= _CLAUSE and not _TALK.search(part)
    ]
    return (question, *parts) if parts != [question] else (question,)


def _joined(question: str) -> list[str]:
    """The two questions that one joins, or the one."""
    joined = _JOINED.search(question, 0, _LONGEST)
    if joined is None:
        return [question]
    return [f"{question[: joined.start()].strip(' ,?')}?", question[joined.start("second") :].strip()]


def of_parts(logits: Sequence[float | None], said: Sequence[Sequence[float]]) -> list[float | None]:
    """A reader's logits of passages for two questions at once, of which one may be answered in another passage.

    Both must be answered: no passage says more than what the part with the worse answer has in its best one, and the
    best passage says as much.

    Args:
        logits: of each passage; None of one that it was not shown.
        said: of each part the logits of the passages.
    """
    least = min(max(each, default=0.0) for each in said)
    best = max((logit for logit in logits if logit is not None), default=0.0)
    held = [logit if logit is None or least > 0 else min(logit, least) for logit in logits]
    return [max(best, least) if logit == best else logit for logit in held]


def best_two(question: str, shown: Sequence[str], logits: Sequence[float | None]) -> list[int]:
    """The two best passages of a question that may compare, in their order; none of another question.

    Of "Which is cheaper, the Harbour Hotel or the Garden Hotel?" one passage tells only one thing, so that the question
    is asked of the two together, too.

    Args:
        shown: what the reader was shown of each passage; of equal ones the first counts.
        logits: what it said of each; None of one that it was not shown.
    """
    if not _compares(question):
        return []
    said = {i: logit for i, logit in enumerate(logits) if logit is not None and shown.index(shown[i]) == i}
    return sorted(sorted(said, key=lambda i: said[i], reverse=True)[:2]) if len(said) > 1 else []


def lacks_a_side(question: str, passages: Sequence[str]) -> bool:
    """Whether a question that compares names something that stands in no passage: there is nothing to compare with.

    The names of the sentence that compares count, not those of a greeting or below a mail, and none of a title.
    """
    sentences = [question[span.begin : span.end] for span in laid_out(question[:_LONGEST])]
    compares = next((_GREETS.sub("", each) for each in sentences if _COMPARISON.search(each)), "")
    words = tokens(compares)
    if sum(word.is_capitalised for word in words) > _TITLED * len(words):
        return False
    named = {word.term for word in words[1:] if word.is_capitalised and not word.is_stop}
    return bool(named) and not named.issubset(frozenset().union(*map(keys_of, passages)))


def is_unknown(question: str, passages: Sequence[str]) -> bool:
    """Whether a question has only words that are in no passage and hardly anywhere ("xyzzy plugh"): a reader that does
    not know them says anything of them.
    """
    words = {word.term for word in tokens(question) if not word.is_stop}
    return (
        bool(words) and all(map(is_unheard_of, words)) and words.isdisjoint(frozenset().union(*map(keys_of, passages)))
    )


def of_both(together: float | None, *alone: float | None) -> float | None:
    """A reader's logit of two passages as one: half what it says of them together, half what it says of the better one.

    Of two passages it says too easily that they answer: beside the price of one hotel and the lift of another, that one
    is cheaper.
    """
    best = max((logit for logit in alone if logit is not None), default=None)
    return together if together is None or best is None else (together + best) / 2


def _compares(question: str) -> bool:
    return _COMPARES.search(question, 0, _LONGEST) is not None


def as_one(texts: Sequence[str], vectors: Sequence[Vectors]) -> tuple[str, Vectors]:
    """Passages as if they were one, with its vectors."""
    return "\n".join(texts), np.concatenate(list(vectors))


def to_read(question: str, text: str, title: str | None = None) -> str:
    """What of a passage a reader is shown: neighbouring sentences of at most `_WINDOW` words (or one longer sentence)
    that hold most of the question's words, as `reading.as_read` puts them, behind the title; of equals the first. "" of
    a passage of which nothing is shown at all."""
    asked = _asked(question)
    spans, have = laid_out(text), tuple(_sentences(text))
    plain = [span.text for span in spans]
    said = _read(text)
    best, shown = -1.0, text
    begin = 0
    while begin < len(spans):
        end, size = begin + 1, len(said[begin].split())
        while end < len(spans) and (size := size + len(said[end].split())) <= _WINDOW:
            end += 1
        words = frozenset().union(*have[begin:end])
        held = sum(weight for term, weight in asked.weights.items() if term in words)
        if held > best:
            best, shown = held, text[spans[begin].begin : spans[end - 1].end]
            if said[begin:end] != plain[begin:end]:
                shown = " ".join(filter(None, said[begin:end]))
        if end == len(spans):
            break
        begin = max(begin + 1, end - 1)
    return f"{title}: {shown}" if title and shown else shown


def with_title(text: str, title: str | None) -> str:
    """What a passage with a title is taken to say, for words and vectors alike."""
    return f"{title}\n{text}" if title else text


def best_cosine(a: Vectors, b: Vectors) -> float:
    """Largest cosine between a window of one text and a window of the other; 0 where one has none."""
    return float((a @ b.T).max()) if len(a) and len(b) else 0.0


def features(question: str, passage: str, question_vectors: Vectors, passage_vectors: Vectors) -> tuple[float, ...]:
    """The numbers named in `FEATURES`, each to 1."""
    asked = _asked(question)
    held = 0.0
    for have in _sentences(passage):
        held = max(held, sum(weight for term, weight in asked.weights.items() if term in have))
    return best_cosine(question_vectors, passage_vectors), held / asked.total


@dataclass(frozen=True)
class _Weighed:
    weights: dict[str, float]
    total: float


@remembered(256)
def _asked(question: str) -> _Weighed:
    weights = {term: idf(term) for term in sorted(set(terms(question)))}
    return _Weighed(weights, sum(weights.values()) or 1.0)


@remembered(1024, kept_as=tuple)
def _sentences(passage: str) -> Iterable[frozenset[str]]:
    """The content terms of each sentence, as it is read."""
    return (frozenset(terms(text)) for text in _read(passage))


def states_something(passage: str) -> bool:
    """Whether a passage does more than to ask, or to list what a document is about: else it answers no question."""
    return any(_stated(passage))


def _read(passage: str) -> Sequence[str]:
    """The sentences of a passage as they are read. One that states nothing is read as it stands: the answer to its
    question may stand elsewhere, in the metadata of its document."""
    said = _stated(passage)
    return said if any(said) else _plain(passage)


@remembered(1024)
def _stated(passage: str) -> tuple[str, ...]:
    """What each sentence of a passage states, as it is read; "" for nothing."""
    return tuple(as_read(_plain(passage), columns_of(passage, laid_out(passage))))


def _plain(passage: str) -> list[str]:
    return cleaned([span.text for span in laid_out(passage)], is_known)


def _threshold(name: str, given: float | None, default: float) -> float:
    value: Any = default if given is None else given
    if not 0.0 <= value <= 1.0:  # also catches NaN
        raise InvalidInput(f"{name} is not a probability", expected="a number from 0 to 1", got=repr(value))
    return float(value)
