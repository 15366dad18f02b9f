"""Fact check: how true an answer is by its sources, without reading sources that do not matter (Provenance)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any, Literal

from intrinsics_core.conversation import Task
from intrinsics_core.errors import IntrinsicsError, InvalidInput
from intrinsics_core.evaluation.probabilities import sigmoid, softmax
from intrinsics_core.intrinsics._common import Documents, Messages, OnError, call
from intrinsics_core.intrinsics.table import register
from intrinsics_core.profiles.base import Profile
from intrinsics_core.program import Call
from intrinsics_core.requests import Program
from intrinsics_core.results import FactCheck, SourceVerdict

Aggregate = Literal["weighted", "min", "max"]


def _unjudged(task: Task, why: str) -> FactCheck:
    return FactCheck(score=None, sources=(), reason=why)


def _failed(task: Task, why: str) -> FactCheck:
    return FactCheck(score=None, sources=(), degraded=why)


@register(
    "fact-check",
    result=FactCheck,
    ends_with=("assistant",),
    needs_documents=True,
    empty=_unjudged,
    fallbacks={"fallback": _failed},
    score=lambda result: result.score,
    judges="the answer is true by the sources",
    needs="answer, sources",
    gives="factuality in 0..1 and the sources it rests on",
)
def fact_check(
    messages: Messages,
    documents: Documents,
    *,
    top_k: int | None = 5,
    top_p: float | None = None,
    aggregate: Aggregate = "weighted",
    on_error: OnError = "raise",
    date: str | None = None,
) -> Call[FactCheck]:
    """Check the last assistant turn, as an answer to the last user turn, against sources.

    Each source gets a relevance; the softmax over all of them says how much each matters, the most relevant are
    selected and their weights renormalised to sum to 1; each
    selected source is asked whether it entails "The answer to question Q is A"; the scores are put together.

    Args:
        messages: ends with an assistant turn (the answer); the last user turn is the question.
        documents: the sources, one or more. Their order is kept in the result.
        top_k: read at most this many sources; None reads all that ``top_p`` leaves.
        top_p: read the most relevant sources until their share of all relevance reaches this; None switches it off.
        aggregate: ``"weighted"`` mean by relevance, or the ``"min"`` or ``"max"`` of the scores. In the mean a source
            that bears on the question but is silent on the answer counts against it, so where one source is enough to
            make an answer true take ``"max"``, or leave the silent ones out with a small ``top_k`` or ``top_p``.
        on_error: ``"fallback"`` gives no score, marked as degraded.
        date: date text for prompts that carry one; the day of the call where left out.

    Raises:
        InvalidInput: at once, where the input is wrong.

    Source: *Provenance: A Light-weight Fact-checker for RAG* (2024).
    """
    for name, value, fits, want in (
        ("top_k", top_k, top_k is None or top_k >= 1, "a number from 1, or None"),
        ("top_p", top_p, top_p is None or 0 < top_p <= 1, "a number in (0, 1], or None"),
        ("aggregate", aggregate, aggregate in ("weighted", "min", "max"), "weighted, min or max"),
    ):
        if not fits:
            raise InvalidInput(f"{name} is out of range", intrinsic="fact-check", expected=want, got=repr(value))
    program = partial(_program, top_k=top_k, top_p=top_p, aggregate=aggregate)
    made = call("fact-check", messages, documents, date=date, program=program, on_error=on_error)
    if not made.task.query:
        raise InvalidInput("messages has no user turn: the question that is answered", intrinsic="fact-check",
                           expected="a user turn before the answer")  # fmt: skip
    return made


def _program(
    task: Task, profile: Profile, *, top_k: int | None, top_p: float | None, aggregate: Aggregate
) -> Program[FactCheck]:
    each = [task.only(i) for i in range(len(task.documents))]
    logits = [float(value) for value in _values((yield from profile.ask_many("relevance", each)))]
    weights = select(logits, top_k=top_k, top_p=top_p)
    read = [i for i, weight in enumerate(weights) if weight > 0]
    scores = dict(zip(read, _values((yield from profile.ask_many("entailment", [each[i] for i in read]))), strict=True))
    total = {
        "weighted": sum(weights[i] * scores[i] for i in read),
        "min": min(scores.values()),
        "max": max(scores.values()),
    }[aggregate]
    return FactCheck(
        score=min(1.0, max(0.0, total)),
        sources=tuple(
            SourceVerdict(
                index=i,
                document_id=task.document_id(i),
                relevance=sigmoid(logit),
                weight=weights[i],
                score=scores.get(i),
            )
            for i, logit in enumerate(logits)
        ),
    )


def _values(outcomes: Sequence[Any]) -> Sequence[Any]:
    for outcome in outcomes:
        if isinstance(outcome, IntrinsicsError):
            raise outcome
    return outcomes


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
