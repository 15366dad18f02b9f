"""Audit: everything about an answer at once.

A profile with a format of this name (``prompted``) is asked for all of it in one request: one schema, one reading of
the documents. Others are asked for the parts side by side, in one wave: adapters over one shared prefix, encoders with
no text encoded twice. What a base, or a route of its own, serves is asked there, in the same wave. A part that fails,
or that nobody serves, costs that part alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from intrinsics_core.intrinsics import _disagreements, _marks
from intrinsics_core.intrinsics._costs import checked
from intrinsics_core.intrinsics.calling import Documents, Messages, OnError, call
from intrinsics_core.intrinsics.table import register
from intrinsics_core.protocol.call import Call, asked_once, merge
from intrinsics_core.protocol.errors import IntrinsicsError, UnsupportedIntrinsic
from intrinsics_core.protocol.names import named
from intrinsics_core.protocol.profile import Profile
from intrinsics_core.protocol.requests import Program
from intrinsics_core.protocol.results import (
    Answerability,
    AnswerRelevance,
    Audit,
    AuditedSentence,
    AuditParts,
    CheckedCitation,
    Citation,
    SentenceVerdict,
)
from intrinsics_core.protocol.task import Task
from intrinsics_core.replies import sentence_ids

NAME = "audit"
# Part of an audit, by the intrinsic that judges it alone -> its field in `AuditParts`.
PARTS: Mapping[str, str] = {
    "answerability": "answerability",
    "hallucination-detection": "hallucination",
    "citations": "citations",
    "uncertainty": "uncertainty",
    "answer-relevance": "answer_relevance",
}
_OF_THE_QUESTION = ("answerability", "answer-relevance")  # parts that there are none of without a user turn


@dataclass(frozen=True)
class _Ask:
    """One format to ask, and the parts that its value holds."""

    format: str
    parts: tuple[str, ...]
    task: Task
    profile: Profile


def _unjudged(task: Task, why: str) -> Audit:
    said = bool(task.response.strip())
    gate = Answerability(label="unanswerable", probability=0.0, reason=why) if said and task.query else None
    return put_together(task, AuditParts(answerability=gate)).model_copy(update={"reason": why, "disagreements": ()})


def _failed(task: Task, why: str) -> Audit:
    parts = AuditParts(hallucination=sentence_ids.all_missing(task))
    return put_together(task, parts).model_copy(update={"degraded": why})


@register(
    NAME,
    result=Audit,
    ends_with=("assistant",),
    needs_documents=True,
    empty=_unjudged,
    fallbacks={"fallback": _failed},
    needs="answer, documents",
    gives="all verdicts on an answer in one call, and the verdicts that contradict each other",
)
def audit(
    messages: Messages, documents: Documents, *, on_error: OnError = "raise", date: str | None = None
) -> Call[Audit]:
    """Judge the last assistant turn in every way at once.

    Whether the documents answer the question at all, a verdict and citations for each sentence, how certain the answer
    is to be right, whether it addresses the question, and which of these verdicts do not go together.

    Args:
        messages: a conversation that ends with an assistant turn. Without a user turn there is no question, and
            ``answerability`` and ``answer_relevance`` are None.
        documents: any number; without them every sentence is NA, the question unanswerable, and there is a reason.
        on_error: for the case that nothing could be judged: ``"fallback"`` gives NA for every sentence, marked as
            degraded. A part that fails by itself is None (its citations none, its sentences NA and ``missing``) either
            way, and ``degraded`` names it; a part that the profile does not serve is None, and ``reason`` names it.
        date: date text for prompts that carry one; the day of the call where left out.

    Returns:
        A call whose result holds it all, with exact offsets. ``result.hallucination`` and ``result.citations`` are its
        verdicts and citations as results of those intrinsics. These citations leave unfaithful sentences out, and their
        ``missing`` is always 0.

    Raises:
        InvalidInput: if the input is invalid. It is raised by this function, not by `run`.

    Example:

        >>> from intrinsics_core import audit, run
        >>> question = [{"role": "user", "content": "Who built the lighthouse?"}]
        >>> documents = ["Ada Brink built the lighthouse in 1911.", "Fog is common in May."]
        >>> answer = [*question, {"role": "assistant", "content": "Ada Brink built the lighthouse in 1911."}]
        >>> run(audit(answer, documents)).hallucination.label
        'faithful'
    """
    return audit_of(PARTS, messages, documents, on_error=on_error, date=date)


def audit_of(
    parts: Sequence[str] | Mapping[str, str],
    messages: Messages,
    documents: Documents,
    *,
    on_error: str = "raise",
    date: str | None = None,
) -> Call[Audit]:
    """An audit of some of the :data:`PARTS` alone; the others are None, and nothing is said of them.

    Raises:
        InvalidInput: if the input is invalid, or a part is unknown. It is raised by this function, not by `run`.
    """
    wanted = dict.fromkeys(named("parts", part, PARTS, intrinsic=NAME) for part in parts)
    program = partial(_program, parts=tuple(wanted))
    made = call(NAME, messages, documents, date=date, program=program, on_error=on_error)
    return replace(made, composite=True)


def _program(task: Task, profile: Profile, *, parts: tuple[str, ...]) -> Program[Audit]:
    notes, of_all = list[str](), len(parts) == len(PARTS)
    if not task.query:
        parts = tuple(part for part in parts if part not in _OF_THE_QUESTION)
        notes.append("no question: nothing to judge answerability and answer relevance by")
    asks = _asks(task, profile, parts)
    if not asks:
        raise UnsupportedIntrinsic(f"profile {profile.name!r} serves no part of an audit", intrinsic=NAME,
                                   expected=f"one of {', '.join(parts)}", got=profile.name)  # fmt: skip
    served = {part for ask in asks for part in ask.parts}
    if unserved := [part for part in parts if part not in served]:
        notes.append(f"not served by profile {profile.name!r}: {', '.join(unserved)}")
    asking = merge([ask.profile.ask(ask.format, ask.task) for ask in asks], width=len(asks))
    values, written = yield from _marks.note_writing(asked_once(asking))
    checked(values)
    found: dict[str, Any] = {}
    lost: list[str] = []
    for ask, value in zip(asks, values, strict=True):
        if isinstance(value, IntrinsicsError):
            lost.append(f"no {', '.join(ask.parts)}: {type(value).__name__}: {value.message}")
        elif isinstance(value, AuditParts):
            found |= {name: one for name in PARTS.values() if (one := getattr(value, name)) is not None}
            lost += [value.degraded] if value.degraded else []
        else:
            found[PARTS[ask.parts[0]]] = value.score if isinstance(value, AnswerRelevance) else value
    lost += [one.degraded for one in found.values() if getattr(one, "degraded", None)]
    if "hallucination" not in found and any("hallucination-detection" in ask.parts for ask in asks):
        found["hallucination"] = sentence_ids.all_missing(task)
    told = put_together(task, AuditParts(**found))
    cited = _marks.cited_in(task) if of_all else None
    marks: tuple[CheckedCitation, ...] = ()
    if cited and (cited.marks or cited.quotes):
        of = _marks.sentences_of(cited, told.sentences)
        checking = _marks.ask_marks(task, cited, of, told, profile, by_document=not written)
        (checked_marks,) = yield from merge([checking], width=1)
        if isinstance(checked_marks, IntrinsicsError):
            lost.append(f"no marks: {type(checked_marks).__name__}: {checked_marks.message}")
        else:
            marks = tuple(checked_marks)
    update = {"degraded": "; ".join(dict.fromkeys(lost)) or None, "reason": "; ".join(notes) or None, "marks": marks}
    return told.model_copy(update=update)


def _asks(task: Task, profile: Profile, parts: tuple[str, ...]) -> list[_Ask]:
    """What to ask of whom, without the parts that nobody serves.

    A part with a route of its own goes there, unless the audit has one; the others go where the audit goes. There, the
    profile that has a format for the whole is asked for all the parts that it serves itself at once.
    """
    apart = [] if profile.routes_apart(NAME) else [part for part in parts if profile.routes_apart(part)]
    asks = [
        _Ask(part, (part,), replace(_task_of(part, task), intrinsic=part), serving)
        for part in apart
        if (serving := profile.judge_of(part))
    ]
    rest = [part for part in parts if part not in apart]
    try:
        own = profile.serving(NAME)
    except UnsupportedIntrinsic:  # some parts have routes, the rest has none
        return asks
    whole = own.owner(NAME)
    together = tuple(part for part in rest if whole and (own.owner(part) or whole) is whole)
    if together:
        options = {**task.options, "parts": together}
        asks.append(_Ask(NAME, together, replace(task, options=options), own))
    alone = [part for part in rest if part not in together and part in own]
    return asks + [_Ask(part, (part,), _task_of(part, task), own) for part in alone]


def _task_of(part: str, task: Task) -> Task:
    """What the part is asked about: answerability about the question, all others about the answer."""
    if part != "answerability":
        return task
    turns = list(task.messages)
    while turns[-1].role != "user":
        turns.pop()
    return replace(task, messages=tuple(turns))


def put_together(task: Task, parts: AuditParts) -> Audit:
    """The parts as one result: each citation with its sentence, and what the parts disagree about."""
    verdicts = parts.hallucination or sentence_ids.nothing_judged(task)
    cited = _by_sentence(verdicts.sentences, parts.citations.citations if parts.citations else ())
    certainty = parts.uncertainty.certainty if parts.uncertainty else None
    return Audit(
        answerability=parts.answerability,
        sentences=tuple(
            AuditedSentence(**dict(sentence), citations=citations)
            for sentence, citations in zip(verdicts.sentences, cited, strict=True)
        ),
        label=verdicts.label,
        score=verdicts.score,
        by=verdicts.by,
        certainty=certainty,
        answer_relevance=parts.answer_relevance,
        disagreements=tuple(
            _disagreements.between(
                answerability=parts.answerability,
                hallucination=parts.hallucination,
                citations=parts.citations,
                certainty=certainty,
                answer_relevance=parts.answer_relevance,
            )
        ),
        dropped=verdicts.dropped + (parts.citations.dropped if parts.citations else 0),
        missing=verdicts.missing,
    )


def _by_sentence(sentences: Sequence[SentenceVerdict], citations: Sequence[Citation]) -> list[tuple[Citation, ...]]:
    """Each citation at its own sentence, or, where another profile split otherwise, at the one it shares most with.

    A sentence that is unfaithful has none: a mark would say that a source supports it.
    """
    rows: list[list[Citation]] = [[] for _ in sentences]
    exact = {(s.begin, s.end): i for i, s in enumerate(sentences)}
    for citation in citations:
        begin, end = citation.response_begin, citation.response_end
        place = exact.get((begin, end))
        if place is None and sentences:
            shared = [min(end, s.end) - max(begin, s.begin) for s in sentences]
            place = shared.index(max(shared))
        if place is not None and sentences[place].label != "unfaithful":
            rows[place].append(citation)
    return [tuple(row) for row in rows]
