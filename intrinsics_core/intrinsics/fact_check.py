"""Fact check: how true an answer is by its sources, without reading sources that do not matter (Provenance).

As published: relevance of each source to the question, a softmax over it, the most relevant by top-p or top-k in their
own order, the entailment of "The answer to question Q is A." by each, and one number of these. Where the paper is
silent: a response of several sentences is checked claim by claim (as one long claim it loses about .1 AUROC on QAGS),
and ``max`` is the default (its own table has ``min`` and ``weighted`` below chance on HotpotQA).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal, get_args

from intrinsics_core.calibration.logits import finite
from intrinsics_core.calibration.probabilities import sigmoid, softmax
from intrinsics_core.intrinsics.calling import Documents, Messages, OnError, call, with_question, wrong
from intrinsics_core.intrinsics.table import register, without_verdict
from intrinsics_core.protocol.apply_calibration import recalibrated
from intrinsics_core.protocol.call import Call
from intrinsics_core.protocol.errors import raised
from intrinsics_core.protocol.profile import Profile
from intrinsics_core.protocol.requests import Program
from intrinsics_core.protocol.results import CheckedClaim, FactCheck, SourceVerdict
from intrinsics_core.protocol.task import Task
from intrinsics_core.text.sentences import Span

Aggregate = Literal["max", "min", "weighted"]
SourceUnit = Literal["passages", "sentences"]
Combine = Literal["mean", "min"]

OPTIONS = ("top_k", "top_p", "aggregate", "sources", "combine")
"""How sources are chosen and scores put together: the keyword arguments that every integration's checker has, too."""


def _blank(task: Task, reason: str | None = None) -> FactCheck:
    return FactCheck(score=None, claims=(), sources=(), reason=reason)


@register(
    "fact-check",
    result=FactCheck,
    ends_with=("assistant",),
    needs_documents=True,
    score=lambda result: result.score,
    judges="the answer is true by the sources",
    needs="answer, documents",
    gives="factuality in 0..1, per claim, and the documents that support it",
    **without_verdict(_blank),
)
def fact_check(
    messages: Messages,
    documents: Documents,
    *,
    top_k: int | None = None,
    top_p: float | None = 0.9,
    aggregate: Aggregate = "max",
    sources: SourceUnit = "passages",
    combine: Combine = "mean",
    on_error: OnError = "raise",
    date: str | None = None,
) -> Call[FactCheck]:
    """Check the last assistant turn, as an answer to the last user turn, against sources.

    Each source gets a relevance; the softmax over all of them says how much each matters, the most relevant are
    selected and their weights renormalised to sum to 1; each selected source is asked whether it entails "The answer to
    question Q is A"; the scores are put together. A response of several sentences is checked sentence by sentence,
    each as an answer to the question. Sentences that claim nothing ("Hello!", a heading) are left out where the profile
    can tell them, as the embedded default can; other profiles judge all.

    Args:
        messages: ends with an assistant turn (the answer); the last user turn is the question.
        documents: the sources, one or more. Their order is kept in the result.
        top_k: read at most this many sources; None reads all that ``top_p`` leaves.
        top_p: read the most relevant sources until their share of all relevance reaches this; None switches it off.
        aggregate: of a claim's scores by source: the ``"max"`` (one source is enough to make a claim true), the
            ``"min"`` (every source read must say it), or their mean ``"weighted"`` by relevance, in which a source that
            bears on the question but is silent on the answer counts against it.
        sources: what is one source: each document (``"passages"``), or each of its sentences, as in the paper.
        combine: of the claims' scores: their ``"mean"``, or the ``"min"`` (as true as the weakest claim).
        on_error: ``"fallback"`` gives no score, marked as degraded. A claim that could not be held against a source
            leaves the whole answer without a score: no mean and no minimum is taken over the claims that were.
        date: date text for prompts that carry one; the day of the call where left out.

    Returns:
        A call whose result has the score, each claim with its own, and each source with its relevance and weight; its
        ``read`` is the share of the sources' text that was held against the claims. Where no sentence claims anything,
        there is no score, and ``reason`` says so.

    Raises:
        InvalidInput: if the input is invalid. It is raised by this function, not by `run`.
        MalformedReply: by `run`, if a relevance or a score is NaN or infinite.

    Source: *Provenance: A Light-weight Fact-checker for RAG* (2024).

    Example:

        >>> from intrinsics_core import fact_check, run
        >>> question = [{"role": "user", "content": "Who built the lighthouse?"}]
        >>> documents = ["Ada Brink built the lighthouse in 1911.", "Fog is common in May."]
        >>> answer = [*question, {"role": "assistant", "content": "Ada Brink built the lighthouse in 1911."}]
        >>> run(fact_check(answer, documents)).score > 0.5
        True
    """
    if top_k is not None and top_k < 1:
        raise wrong("fact-check", "top_k is out of range", "a number from 1, or None", top_k)
    if top_p is not None and not 0 < top_p <= 1:
        raise wrong("fact-check", "top_p is out of range", "a number in (0, 1], or None", top_p)
    for name, value, kind in (
        ("aggregate", aggregate, Aggregate),
        ("sources", sources, SourceUnit),
        ("combine", combine, Combine),
    ):
        if value not in get_args(kind):
            raise wrong("fact-check", f"{name} is unknown", " or ".join(get_args(kind)), value)
    program = partial(_program, top_k=top_k, top_p=top_p, aggregate=aggregate, sources=sources, combine=combine)
    made = call("fact-check", messages, documents, date=date, program=program, on_error=on_error)
    return with_question(made, made.task.query)


def _program(task: Task, profile: Profile, **chosen: Any) -> Program[FactCheck]:
    return (yield from profile.decided("fact-check", lambda judge: _checked(task, judge, **chosen)))


def _checked(
    task: Task,
    profile: Profile,
    *,
    top_k: int | None,
    top_p: float | None,
    aggregate: Aggregate,
    sources: SourceUnit,
    combine: Combine,
) -> Program[FactCheck]:
    says = _tells_claims(profile)
    task = task.split_by(says.split if says else profile.split)
    units = _units(task, sources)
    if not units:
        return _blank(task, "the sources have no text")
    sources_of = replace(task, documents=tuple(replace(task.documents[i], text=span.text) for i, span in units))
    logits = _values((yield from profile.ask_each("relevance", sources_of)), "sources have relevances")
    weights = select(logits, top_k=top_k, top_p=top_p)
    read = [i for i, weight in enumerate(weights) if weight > 0]
    # What is read of one source may hang on the others: what the question is about, and where a sentence goes on.
    among = {**task.options, "sources": sources_of.documents}
    claims = yield from _claims(replace(sources_of.only(*read), options=among), says)
    if not claims:
        return _blank(task, "nothing claimed")
    asked = [replace(alone, documents=(sources_of.documents[i],)) for _, alone in claims for i in read]
    values = iter(_values((yield from profile.ask_many("entailment", asked)), "claims have scores"))
    scores = [{i: next(values) for i in read} for _ in claims]  # by claim, then by source
    totals = [_aggregated(aggregate, by_source, weights) for by_source in scores]
    checked = FactCheck(
        score=_combined(combine, totals),
        claims=tuple(
            CheckedClaim(text=claim.text, begin=claim.begin, end=claim.end, score=total)
            for (claim, _), total in zip(claims, totals, strict=True)
        ),
        sources=tuple(
            SourceVerdict(
                index=index,
                document_id=task.document_id(index),
                begin=span.begin,
                end=span.end,
                relevance=sigmoid(logits[i]),
                weight=weights[i],
                score=_combined(combine, [by_source[i] for by_source in scores]) if i in read else None,
            )
            for i, (index, span) in enumerate(units)
        ),
        read=sum(len(units[i][1].text) for i in read) / sum(len(span.text) for _, span in units),
        degraded=profile.note_of("entailment", task),
    )
    found: FactCheck = recalibrated("fact-check", checked, profile.calibrations)
    return found


def _units(task: Task, sources: SourceUnit) -> list[tuple[int, Span]]:
    """What is one source each, in the caller's order: a document's position, and what is read of it at once."""
    if sources == "sentences":
        return [(i, span) for i, spans in enumerate(task.document_sentences) for span in spans]
    return [(i, Span(0, len(d.text), d.text)) for i, d in enumerate(task.documents) if d.text.strip()]


def _tells_claims(profile: Profile) -> Profile | None:
    """The profile that judges entailment, if it can say which sentences claim something."""
    judge = profile.owner("entailment")
    return judge if judge and "claims" in judge.formats else None


def _claims(task: Task, says: Profile | None) -> Program[list[tuple[Span, Task]]]:
    """The sentences of the answer that claim something, each with the task in which it is all of the answer.

    Where nobody ``says`` which of them do, all count as claims.
    """
    sentences = task.response_sentences
    alone: Sequence[Task | None] = [task.answered(sentence.text) for sentence in sentences]
    if says:
        alone = yield from says.ask("claims", task)
    return [(sentence, one) for sentence, one in zip(sentences, alone, strict=True) if one is not None]


def _aggregated(aggregate: Aggregate, scores: dict[int, float], weights: Sequence[float]) -> float:
    if aggregate == "weighted":
        return _within(math.fsum(weights[i] * score for i, score in scores.items()))
    return _within((min if aggregate == "min" else max)(scores.values()))


def _combined(combine: Combine, scores: Sequence[float]) -> float:
    return _within(min(scores) if combine == "min" else math.fsum(scores) / len(scores))


def _within(score: float) -> float:
    return min(1.0, max(0.0, score))


def _values(outcomes: Sequence[Any], what: str) -> list[float]:
    return finite(list(map(raised, outcomes)), what)


def select(logits: Sequence[float], *, top_k: int | None, top_p: float | None) -> list[float]:
    """Weights of sources in their own order: 0 for those left out, the others sum to 1.

    The softmax of the logits is a distribution over the sources; the most likely are kept until ``top_k`` are, or their
    share reaches ``top_p``, and renormalised. Of equals the first counts.
    """
    shares = softmax(logits)
    chosen: list[int] = []
    for i in sorted(range(len(shares)), key=lambda i: -shares[i])[:top_k]:
        if chosen and top_p is not None and math.fsum(shares[j] for j in chosen) >= top_p:
            break
        chosen.append(i)
    kept = math.fsum(shares[i] for i in chosen)
    return [shares[i] / kept if i in chosen else 0.0 for i in range(len(shares))]
