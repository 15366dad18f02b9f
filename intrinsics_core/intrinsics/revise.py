"""Revise: an answer without what the documents do not say. Correct, then check again.

The sentences are judged, those that the documents do not support are given to the model to mend or to drop, and the
result is judged again. No other sentence is touched, but a heading or an introduction goes with all that it introduces.
A profile without such a format (an encoder writes no text) drops what is unfaithful and leaves what is supported in
part, which is then among ``unsupported``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from intrinsics_core.intrinsics._consequences import settled
from intrinsics_core.intrinsics._dropping import applied, changed
from intrinsics_core.intrinsics._placeholders import without_placeholder
from intrinsics_core.intrinsics.calling import Documents, Messages, OnError, call, wrong
from intrinsics_core.intrinsics.hallucination_detection import hallucination_detection
from intrinsics_core.intrinsics.table import register, without_verdict
from intrinsics_core.protocol.call import Call
from intrinsics_core.protocol.profile import Profile
from intrinsics_core.protocol.requests import Program
from intrinsics_core.protocol.results import (
    Audit,
    Change,
    HallucinationDetection,
    Mendings,
    RevisedAnswer,
    SentenceVerdict,
)
from intrinsics_core.protocol.task import Task
from intrinsics_core.text.tables import is_row

NAME = "revise"
NOTHING_LEFT = "no sentence of the answer is supported"
_DOUBTED = ("partial", "unfaithful")
_DROPPED = ("unfaithful",)  # without a model that could mend: half of a sentence cannot be dropped


def _as_it_is(task: Task) -> RevisedAnswer:
    answer = task.last.content if task.response.strip() else ""
    return RevisedAnswer(answer=answer, changes=(), unsupported=())


@register(
    NAME,
    result=RevisedAnswer,
    ends_with=("assistant",),
    needs_documents=True,
    needs="answer, documents",
    gives="the answer without what the documents do not say, what changed, what stays unsupported",
    **without_verdict(_as_it_is),
)
def revise(
    messages: Messages,
    documents: Documents,
    *,
    verdicts: HallucinationDetection | Audit | None = None,
    mend: bool = True,
    on_error: OnError = "raise",
    date: str | None = None,
) -> Call[RevisedAnswer]:
    """Rewrite or drop the sentences of the last assistant turn that the documents do not support, and check again.

    Args:
        messages: a conversation that ends with an assistant turn.
        documents: any number; without them there is nothing to check by: the answer stays, and there is a reason.
        verdicts: on this very answer, all of it, where it was judged before. It is judged first where they are left
            out, and where they are those of a judge that failed or had nothing to judge by.
        mend: True lets a language model rewrite unsupported sentences. False only drops sentences, those that are
            unfaithful. A profile without a language model does the same.
        on_error: ``"fallback"`` gives the answer as it was, marked as degraded.
        date: date text for prompts that carry one; the day of the call where left out.

    Returns:
        A call whose result has the new answer, each change with exact offsets in the old one (making them gives the new
        one), the sentences of the new one that are still not supported, and those that the judge left out
        (``unjudged``). Where nothing is left the answer is empty and ``reason`` says so; it says so, too, where what is
        left claims nothing ("Sure!").

    Raises:
        InvalidInput: if the input is invalid, or the verdicts are not about all of this answer. It is raised by this
            function, not by `run`.

    Example:

        >>> from intrinsics_core import revise, run
        >>> question = [{"role": "user", "content": "Who built the lighthouse?"}]
        >>> documents = ["Ada Brink built the lighthouse in 1911.", "Fog is common in May."]
        >>> answer = [*question, {"role": "assistant", "content": "Ada Brink built the lighthouse in 1911."}]
        >>> run(revise(answer, documents)).answer
        'Ada Brink built the lighthouse in 1911.'
    """
    if verdicts is not None and _says_nothing(verdicts):
        verdicts = None
    made = call(NAME, messages, documents, date=date, program=partial(_program, verdicts=verdicts, mend=mend),
                on_error=on_error)  # fmt: skip
    if verdicts is not None:
        _check_about(made.task.response, verdicts.sentences)
    return replace(made, composite=True)


def _says_nothing(verdicts: HallucinationDetection | Audit) -> bool:
    """Whether these verdicts stand for a judge that failed, or that there was nothing to judge by."""
    return bool(verdicts.degraded or verdicts.reason) and all(s.label == "NA" for s in verdicts.sentences)


def _check_about(answer: str, sentences: Sequence[SentenceVerdict]) -> None:
    """Check that these are the sentences of an answer, all of them.

    Raises:
        InvalidInput: one is not in the answer, or something of the answer is in none.
    """
    expected, at = "verdicts on the last assistant turn", 0
    for i, sentence in enumerate(sentences):
        if answer[sentence.begin : sentence.end] != sentence.text:
            raise wrong(NAME, f"verdicts.sentences[{i}] is not a sentence of this answer", expected, sentence.text)
    for begin, end in [*sorted((s.begin, s.end) for s in sentences), (len(answer), len(answer))]:
        if left := answer[at:begin].strip():
            raise wrong(NAME, "verdicts says nothing of a part of this answer", expected, left)
        at = max(at, end)


def _program(
    task: Task, profile: Profile, *, verdicts: HallucinationDetection | Audit | None, mend: bool
) -> Program[RevisedAnswer]:
    judged = verdicts or (yield from _judged(task, profile, task.last.content))
    sentences: Sequence[SentenceVerdict] = judged.sentences
    writer = profile.judge_of(NAME) if mend else None
    wanted = _DOUBTED if writer else _DROPPED
    flagged = {i: s.explanation or s.label for i, s in enumerate(sentences) if s.label in wanted}
    if not flagged:
        return _result(task.last.content, (), judged)
    texts, dropped = dict.fromkeys(flagged, ""), 0
    if writer:
        spans = tuple((s.begin, s.end, s.text) for s in sentences)
        asked = replace(task, options={"sentences": spans, "flagged": flagged})
        mended: Mendings = yield from writer.ask(NAME, asked)
        texts, refused = _taken(mended, sentences)
        dropped = mended.dropped + refused
    gone = settled(task.last.content, sentences, {i for i, text in texts.items() if not text.strip()})
    texts = {i: text for i, text in texts.items() if text.strip()} | dict.fromkeys(gone, "")
    why = flagged | {i: reason for i, reason in gone.items() if reason}
    changes = changed(task.last.content, [(s.begin, s.end) for s in sentences], texts, why)
    answer = applied(task.last.content, changes)
    if not answer.strip():
        return RevisedAnswer(answer="", changes=changes, unsupported=(), reason=NOTHING_LEFT, dropped=dropped)
    again = judged if not changes else (yield from _judged(task, profile, answer))
    told = _result(answer, changes, again, dropped=dropped)
    nothing = again.label == "NA" and not again.missing and bool(gone)
    return told.model_copy(update={"reason": NOTHING_LEFT}) if nothing else told


def _taken(mended: Mendings, sentences: Sequence[SentenceVerdict]) -> tuple[dict[int, str], int]:
    """The new text of each sentence, and how many are not taken: what stands for a row of a table must be a row."""
    texts = {
        one.sentence: without_placeholder(one.text, one.sentence, sentences[one.sentence].text) for one in mended.mended
    }
    prose = [i for i, text in texts.items() if text.strip() and is_row(sentences[i].text) and not is_row(text.strip())]
    return {i: text for i, text in texts.items() if i not in prose}, len(prose)


def _judged(task: Task, profile: Profile, answer: str) -> Program[HallucinationDetection]:
    turns = task.answered(answer).messages
    return (yield from hallucination_detection(turns, task.documents, date=task.date).start(profile))


def _result(
    answer: str, changes: tuple[Change, ...], judged: HallucinationDetection | Audit, *, dropped: int = 0
) -> RevisedAnswer:
    kept = judged.hallucination if isinstance(judged, Audit) else judged
    return RevisedAnswer(
        answer=answer,
        changes=changes,
        unsupported=tuple(sentence for sentence in kept.sentences if sentence.label in _DOUBTED),
        unjudged=tuple(sentence for sentence in kept.sentences if not sentence.judged),
        dropped=dropped,
        missing=kept.missing,
        degraded=kept.degraded if kept.missing else None,
    )
