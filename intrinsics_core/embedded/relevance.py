"""What passages have for a question: context relevance, reranking, answerability; and whether an answer addresses it.

A passage's score is a logistic regression over the cosine of question and passage, how much of the question's idf mass
its best sentence holds and, where there is a reader, what it makes of the question beside the window of sentences that
hold most of its words. A question is as answerable as its best passage.

`training/answering.py` fits the numbers. Without the reader one head serves all (``answering.json``). With it there are
two: whether a passage is relevant (``relevance_read.json``), and whether it states the answer
(``answerability_read.json``).

What this is not: a language model. Without the reader it knows that a passage is about the matter, hardly whether the
one fact asked for is stated. With it questions with a plausible false premise pass less often, but still. Thresholds do
not transfer between collections: fit them on some labelled questions of your own (`calibrate`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from intrinsics_core.calibration.probabilities import logit as log_odds
from intrinsics_core.embedded.heads import SURE, LinearHead, bounded, hashed, load_head, load_text_head
from intrinsics_core.embedded.overrides import Overrides, read, vectors_of
from intrinsics_core.embedded.rewrite.standing_alone import asked_alone, turns_of
from intrinsics_core.embedded.values import quantities
from intrinsics_core.embedded.words import idf, is_known, terms, tokens
from intrinsics_core.protocol.errors import InvalidInput
from intrinsics_core.protocol.requests import Embed, Program, Reply, Request
from intrinsics_core.protocol.results import Answerability, AnswerRelevance, Judgement
from intrinsics_core.protocol.task import Document, Task
from intrinsics_core.text.cleaning import as_meant, cleaned
from intrinsics_core.text.layout import laid_out
from intrinsics_core.text.memory import remembered
from intrinsics_core.text.reading import as_read, columns_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

Label = Literal["relevant", "partially relevant", "irrelevant"]

FEATURES = ("cosine", "sentence_coverage")
READ = "reader"
"""The reader's column: its logit of *answers*, from -1 where it is sure of no to 1 where it is sure of yes."""
_WINDOW = 180  # words of a passage that are read; the reader takes them in two windows, of which the best counts
_A_WORD = 2  # words of an answer that claims nothing, up to which it is no refusal either


# What the encoder and the reader are asked for.


def with_title(text: str, title: str | None) -> str:
    """What a passage with a title is taken to say, for words and vectors alike."""
    return f"{title}\n{text}" if title else text


def passage(document: Document) -> str:
    """A document as a passage: its text behind its title."""
    return with_title(document.text, document.title)


def question_and_passages(task: Task, question: str, *, apart: bool = False) -> Sequence[Request]:
    """Requests for the vectors of a question and of every passage. ``apart``: as if each passage were the only one."""
    return [
        Embed(task.intrinsic, (question,), kind="query"),
        Embed(task.intrinsic, tuple(as_meant(passage(d)) for d in task.documents), kind="passage", apart=apart),
    ]


# The score of one passage.


def shipped_head(of: Literal["relevance", "answerability"], *, reads: bool = False) -> LinearHead:
    """The shipped numbers of context relevance or of answerability; without a reader both have the same.

    Thresholds of relevance: `relevant` and `partial`. Of answerability: `answerable`, and `refused` and `accepted`,
    between which the head does not know.
    """
    return load_head(f"{of}_read", (*FEATURES, READ)) if reads else load_head("answering", FEATURES)


def passage_score(
    question: str,
    passage: str,
    question_vectors: Vectors,
    passage_vectors: Vectors,
    head: LinearHead,
    logit: float | None = None,
) -> float:
    """Probability, 0 to 1, that a passage is relevant to a question or, by the head of answerability, states the
    answer; 0 where either is empty, or nothing of the passage was shown to the reader of a head that reads.

    Args:
        question: a question that stands alone.
        passage: text of the passage, title in front where it has one.
        question_vectors, passage_vectors: (windows, dim), rows L2-normalised.
        logit: a reader's of the question and `to_read`, for a head that reads.
    """
    reads = READ in head.features
    if not question.strip() or not passage.strip() or (reads and logit is None):
        return 0.0
    row = features(question, passage, question_vectors, passage_vectors)
    return head.probability((*row, read_as(logit)) if reads and logit is not None else row)


def features(question: str, passage: str, question_vectors: Vectors, passage_vectors: Vectors) -> tuple[float, ...]:
    """The numbers named in `FEATURES`, each to 1."""
    weights = _weights(question)
    held = max((_held(weights, have) for have in _sentences(passage)), default=0.0)
    return best_cosine(question_vectors, passage_vectors), held / (sum(weights.values()) or 1.0)


def best_cosine(a: Vectors, b: Vectors) -> float:
    """Largest cosine between a window of one text and a window of the other; 0 where one has none."""
    return float((a @ b.T).max()) if len(a) and len(b) else 0.0


def read_as(logit: float) -> float:
    """A reader's logit of *answers* as a column of a head, -1..1."""
    return bounded(logit) / SURE


def to_read(question: str, text: str, title: str | None = None) -> str:
    """What of a passage a reader is shown, behind the title: the neighbouring sentences of at most `_WINDOW` words (or
    the longer one) that hold most of the question's words; "" for an empty passage."""
    weights, said, have = _weights(question), _said(text), _sentences(text)
    sizes = [len(each.split()) for each in said]
    best, shown, begin = -1.0, "", 0
    while begin < len(said):
        end, size = begin + 1, sizes[begin]
        while end < len(said) and (size := size + sizes[end]) <= _WINDOW:
            end += 1
        if (held := _held(weights, frozenset().union(*have[begin:end]))) > best:
            best, shown = held, " ".join(filter(None, said[begin:end]))
        if end == len(said):
            break
        begin = max(begin + 1, end - 1)
    return f"{title}: {shown}" if title and shown else shown


@remembered(256)
def _weights(question: str) -> dict[str, float]:
    """The idf of each content term of a question."""
    return {term: idf(term) for term in sorted(set(terms(question)))}


def _held(weights: dict[str, float], words: frozenset[str]) -> float:
    return sum(weight for term, weight in weights.items() if term in words)


@remembered(1024)
def _sentences(passage: str) -> tuple[frozenset[str], ...]:
    """The content terms of each sentence, as it is read."""
    return tuple(frozenset(terms(text)) for text in _said(passage))


@remembered(1024)
def _said(passage: str) -> tuple[str, ...]:
    """The sentences of a passage as they are read; as they stand where none of them states anything."""
    spans = laid_out(passage)
    plain = cleaned([span.text for span in spans], is_known)
    said = as_read(plain, columns_of(passage, spans))
    return tuple(said if any(said) else plain)


def places_of_answer(question: str, answer: str) -> tuple[int, ...]:
    """What the head of answer relevance reads of a question beside an answer: what the one begins with and ends in, and
    what the other is made of, each with each.
    """
    asked, said = tokens(question), tokens(answer)
    words = [token.text.casefold() for token in asked]
    content = {token.term for token in asked if not token.is_stop}
    begins = {" ".join(words[:n]) for n in (1, 2, 3)} | {f"-{word}" for word in words[-1:]} | {"", *sorted(content)[:8]}
    units = {key.partition(":")[0] for each in quantities(answer) for key in (*each.keys, "number:")}
    made = {f"unit:{unit}" for unit in units} | {f"^{token.text.casefold()}" for token in said[:1]}
    made |= {"name" for token in said[1:] if token.is_capitalised} | {f"{token.term}" for token in said}
    made |= {f"length:{min(6, len(said).bit_length())}", f"same:{min(3, len(content & {t.term for t in said}))}"}
    return hashed(f"{a}*{b}" for a in begins for b in made)


# The intrinsics.


@dataclass(frozen=True)
class Asked:
    """A question that stands alone beside every passage: their vectors and, with a reader, its logits of *answers*."""

    text: str
    question: Any
    passages: Sequence[Any]
    logits: Sequence[float | None]

    def scores(self, documents: Sequence[Document], head: LinearHead) -> list[float]:
        """`passage_score` of each passage."""
        return [
            passage_score(self.text, passage(document), self.question, rows, head, said)
            for document, rows, said in zip(documents, self.passages, self.logits, strict=True)
        ]


def look_at(own: Overrides, task: Task, text: str, replies: Sequence[Reply]) -> Program[Asked]:
    """The reader's word on every passage, after the encoder's. ``text``: the question as it stands alone."""
    (question,), passages = vectors_of(replies)
    if not own.reads:
        return Asked(text, question, passages, [None] * len(passages))
    shown = [to_read(text, d.text, d.title) if text.strip() and d.text.strip() else "" for d in task.documents]
    said = yield from read(task, [[(text, source)] if source else [] for source in shown], "answers")
    return Asked(text, question, passages, [next(iter(logits), None) for logits in said])


def _looked_up(own: Overrides, task: Task, *, apart: bool = False) -> Program[Asked]:
    text = yield from asked_alone(own, task)
    replies: Sequence[Reply] = yield question_and_passages(task, text, apart=apart)  # type: ignore[assignment]
    return (yield from look_at(own, task, text, replies))


def pointwise(own: Overrides, task: Task, *, apart: bool = False) -> Program[list[float]]:
    """For each passage the probability that it is relevant. ``apart``: as if each were the only one."""
    found = yield from _looked_up(own, task, apart=apart)
    return found.scores(task.documents, shipped_head("relevance", reads=bool(own.reads)))


def relevance(own: Overrides, task: Task) -> Program[list[float]]:
    """How far each document bears on the question, as a logit: what a fact check weighs sources by."""
    return [log_odds(score) for score in (yield from pointwise(own, task, apart=True))]


def relevance_of_each(own: Overrides, task: Task) -> Program[list[Judgement]]:
    """Context relevance: what is said of each passage as if it were the only one."""
    given = own.thresholds.get("context-relevance", {})
    shipped = shipped_head("relevance", reads=bool(own.reads)).thresholds
    high = given.get("relevant", shipped["relevant"])
    low = given.get("partial", min(high, shipped["partial"]))
    scores = yield from pointwise(own, task, apart=True)
    return [
        Judgement(index=i, document_id=task.document_id(i), label=label_of(score, high, low), score=score)
        for i, score in enumerate(scores)
    ]


def label_of(score: float, relevant: float, partial: float) -> Label:
    """The label of a score of context relevance.

    Raises:
        InvalidInput: `partial` above `relevant`.
    """
    if partial > relevant:
        raise InvalidInput("partial is too large", expected=f"at most `relevant` ({relevant})", got=str(partial))
    return "relevant" if score >= relevant else "partially relevant" if score >= partial else "irrelevant"


def answerability_of(own: Overrides, task: Task) -> Program[Answerability]:
    """Whether the passages answer the question."""
    from intrinsics_core.embedded.turns import asks_nothing

    turns = turns_of(task)
    if turns and asks_nothing(turns):
        return Answerability(label="answerable", probability=None, reason="the last turn asks nothing of the documents")
    found = answerable_by(own, task, (yield from _looked_up(own, task)))
    why = own.unfitted(task, "answerability")
    return found.model_copy(update={"probability": None, "degraded": why}) if why else found


def answerable_by(own: Overrides, task: Task, asked: Asked) -> Answerability:
    """The verdict of the best passage of those that a question may be about; probability 0 without passages."""
    from intrinsics_core.embedded.about import passages_about

    head = shipped_head("answerability", reads=bool(own.reads))
    before = [text for role, text in reversed(turns_of(task)[:-1]) if role == "user"]
    titles, texts = [d.title or "" for d in task.documents], [d.text for d in task.documents]
    scores = asked.scores(task.documents, head)
    about = passages_about(asked.text, titles, texts, before) or range(len(scores))
    probability = max((scores[i] for i in about), default=0.0)
    low, least, high = (head.thresholds[name] for name in ("refused", "answerable", "accepted"))
    if (limit := own.thresholds.get("answerability", {}).get("answerable")) is not None:  # the band goes with it
        low, least, high = min(limit, low), limit, max(limit, high)
    label: Literal["answerable", "unanswerable"] = "answerable" if scores and probability >= least else "unanswerable"
    return Answerability(label=label, probability=probability, unsure=low <= probability < high)


def answer_relevance(own: Overrides, task: Task) -> Program[AnswerRelevance]:
    """Whether an answer is one to its question, by a small fitted head (`training/answer_relevance.py`) on what the one
    asks with and the other is made of, the cosine, shared words and, with a reader, its logit of *answers*.

    Only what claims something is judged. There is no verdict on a bare yes or no, and none on a question back.
    """
    import numpy as np

    from intrinsics_core.embedded.claims import makes_claim
    from intrinsics_core.embedded.short_answers import beginning

    said = [sentence.text for sentence in task.response_sentences]
    claimed = " ".join(text for text in said if makes_claim(text, alone=len(said) == 1))
    if not claimed and said and all(text.rstrip().endswith("?") for text in said):
        return AnswerRelevance(label=None, score=None, reason="the answer is a question back")
    if not claimed and (any(beginning(text).is_bare for text in said) or len(task.response.split()) <= _A_WORD):
        reason = "too short an answer to tell without a language model"
        return AnswerRelevance(label=None, score=None, reason=reason)
    if not claimed:
        return AnswerRelevance(label="irrelevant", score=0.0)
    question = yield from asked_alone(own, task)
    replies: Sequence[Reply] = yield [  # type: ignore[assignment]  # only replies come
        Embed(task.intrinsic, (question,), kind="query"),
        Embed(task.intrinsic, (claimed,), kind="passage"),
    ]
    (asked,), (answer,) = vectors_of(replies)
    (logits,) = (yield from read(task, [[(question, claimed)]], "answers")) if own.reads else [[]]
    head = load_text_head("answer_relevance", vector=bool(own.reads))
    numbers = np.array([*features(question, claimed, asked, answer), *map(read_as, logits)], np.float32)
    score = head.probabilities(places_of_answer(question, claimed), numbers)["direct"]
    return AnswerRelevance(label=label_of(score, head.thresholds["direct"], head.thresholds["partial"]), score=score)
