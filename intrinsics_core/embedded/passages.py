"""What passages have for a question: context relevance, reranking and answerability."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import TYPE_CHECKING, Any

from intrinsics_core.calibration.probabilities import logit
from intrinsics_core.embedded.asking import passage, question_and_passages, read, vectors_of
from intrinsics_core.embedded.overrides import Overrides
from intrinsics_core.embedded.questions import asked_alone, turns_of
from intrinsics_core.protocol.requests import Program, Reply
from intrinsics_core.protocol.results import Answerability, Judgement
from intrinsics_core.protocol.task import Document, Task

if TYPE_CHECKING:
    from intrinsics_core.embedded.scoring.answering import Relevance as PassageRelevance


_LAST = 0.01  # the most that a passage which states nothing has as a score of reranking


@dataclass(frozen=True)
class Asked:
    """A question with its vectors and the passages' vectors; where there is a reader, what it was shown of each passage
    and what it says of it."""

    text: str
    question: Any
    passages: Sequence[Any]
    shown: Sequence[str]
    logits: list[float | None] | None

    def read(self, documents: Sequence[Document]) -> Iterator[tuple[str, Any, float | None]]:
        """Each passage with its vectors and its logit."""
        return zip(map(passage, documents), self.passages, self.logits or [None] * len(documents), strict=True)


def _looked_up(own: Overrides, task: Task, *, apart: bool = False) -> Program[Asked]:
    """The question as it stands alone beside every passage. ``apart``: as if each passage were the only one."""
    text = yield from asked_alone(own, task)
    replies: Sequence[Reply] = yield question_and_passages(task, text, apart=apart)  # type: ignore[assignment]
    return (yield from look_at(own, task, text, replies))


def look_at(own: Overrides, task: Task, text: str, replies: Sequence[Reply]) -> Program[Asked]:
    """The reader's word on every passage, after the encoder's. ``text``: the question as it stands alone."""
    from intrinsics_core.embedded.scoring.answering import to_read

    (question,), passages = vectors_of(replies)
    if not own.reads:
        return Asked(text, question, passages, (), None)
    shown = [to_read(text, d.text, d.title) if d.text.strip() else "" for d in task.documents]
    return Asked(text, question, passages, shown, (yield from _asks(task, text, shown)))


def _asks(task: Task, question: str, shown: Sequence[str]) -> Program[list[float | None]]:
    """The reader's logits that texts answer a question; None for an empty one."""
    from intrinsics_core.embedded.scoring.answering import asked_of

    asked = asked_of(question) if question.strip() else ()
    pairs = [[(each, source) for each in asked] if source else [] for source in shown]
    return [fmean(said) if said else None for said in (yield from read(task, pairs, "answers"))]


def pointwise(own: Overrides, task: Task) -> Program[list[float]]:
    """For each passage the probability that it is relevant, which is that of context relevance. Those that state
    nothing keep their order below those that do."""
    from intrinsics_core.embedded.scoring.answering import passage_score, shipped_head, states_something

    found = yield from _looked_up(own, task)
    head = shipped_head("relevance", reads=found.logits is not None)
    scores = [
        passage_score(found.text, text, found.question, rows, head=head, logit=said)
        for text, rows, said in found.read(task.documents)
    ]
    stated = [states_something(document.text) for document in task.documents]
    return [score if states else _LAST * score for score, states in zip(scores, stated, strict=True)]


def relevance_of_each(own: Overrides, task: Task) -> Program[list[Judgement]]:
    return [
        Judgement(index=i, document_id=task.document_id(i), label=found.label, score=found.score)
        for i, found in enumerate((yield from _judged(own, task)))
    ]


def _judged(own: Overrides, task: Task) -> Program[list[PassageRelevance]]:
    """What is said of each passage as if it were the only one. What states nothing is partially relevant at most."""
    from intrinsics_core.embedded.scoring.answering import context_relevance, partly, shipped_head, states_something

    asked = yield from _looked_up(own, task, apart=True)
    limits = own.thresholds.get("context-relevance", {})
    high, low = limits.get("relevant"), limits.get("partial")
    head = shipped_head("relevance", reads=asked.logits is not None)
    found = [
        context_relevance(asked.text, text, asked.question, rows, relevant=high, partial=low, head=head, logit=said)
        for text, rows, said in asked.read(task.documents)
    ]
    most = head.thresholds["relevant"] if high is None else high
    stated = [states_something(document.text) for document in task.documents]
    return [each if states else partly(each, most) for each, states in zip(found, stated, strict=True)]


def relevance(own: Overrides, task: Task) -> Program[list[float]]:
    """How far each document bears on the question, as a logit: what a fact check weighs sources by."""
    return [logit(found.score) for found in (yield from _judged(own, task))]


def answerability_of(own: Overrides, task: Task) -> Program[Answerability]:
    from intrinsics_core.embedded.query.going_back import asks_nothing_of_documents
    from intrinsics_core.embedded.scoring.chunks import carried_on

    turns = turns_of(task)
    if turns and asks_nothing_of_documents(turns):
        return Answerability(label="answerable", probability=None, reason="the last turn asks nothing of the documents")
    task = replace(task, documents=carried_on(task.documents))
    found = yield from answerable_by(own, task, (yield from _looked_up(own, task)))
    why = own.unfitted(task, "answerability")
    return found.model_copy(update={"probability": None, "degraded": why}) if why else found


def answerable_by(own: Overrides, task: Task, asked: Asked) -> Program[Answerability]:
    from intrinsics_core.embedded.scoring.answering import (
        answerability,
        as_one,
        asked_of,
        best_two,
        of_both,
        of_parts,
        shipped_head,
        states_something,
    )
    from intrinsics_core.embedded.scoring.subjects import passages_about

    limit = own.thresholds.get("answerability", {}).get("answerable")
    titles, whole = [d.title or "" for d in task.documents], [d.text for d in task.documents]
    before = [text for role, text in reversed(turns_of(task)[:-1]) if role == "user"]
    about = sorted(passages_about(asked.text, titles, whole, before) or range(len(whole)))
    kept = [i for i in about if states_something(whole[i])]
    texts, vectors = [passage(task.documents[i]) for i in kept], [asked.passages[i] for i in kept]
    logits = None if asked.logits is None else [asked.logits[i] for i in kept]
    shown = [asked.shown[i] for i in kept] if asked.shown else []
    if logits and (parts := asked_of(asked.text)[1:])[1:]:
        said = yield from read(task, [[(part, source) for source in shown if source] for part in parts], "answers")
        logits = of_parts(logits, said)
    if logits is not None and (two := best_two(asked.text, shown, logits)):
        (together,) = yield from _asks(task, asked.text, [" ".join(shown[i] for i in two)])
        text, rows = as_one([texts[i] for i in two], [vectors[i] for i in two])
        texts, vectors, logits = (
            [*texts, text],
            [*vectors, rows],
            [*logits, of_both(together, *(logits[i] for i in two))],
        )
    found = answerability(asked.text, texts, asked.question, vectors, threshold=limit, logits=logits)
    band = shipped_head("answerability", reads=asked.logits is not None).thresholds
    low, high = band["refused"], band["accepted"]
    if limit is not None:  # the band goes with the threshold
        low, high = min(limit, low), max(limit, high)
    label = "answerable" if found.answerable else "unanswerable"
    return Answerability(label=label, probability=found.probability, unsure=low <= found.probability < high)
