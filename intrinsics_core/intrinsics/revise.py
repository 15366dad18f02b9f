"""Revise: an answer without what the documents do not say. Correct, then check again.

The sentences are judged, those that the documents do not support are given to the model to mend or to drop, and the
result is judged again. No other sentence is touched, but a heading or an introduction goes with all that it introduces.
A profile without such a format (an encoder writes no text) drops what is unfaithful and leaves what is supported in
part, which is then among ``unsupported``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from intrinsics_core.intrinsics.calling import Documents, Messages, OnError, call
from intrinsics_core.intrinsics.hallucination_detection import hallucination_detection
from intrinsics_core.intrinsics.table import register
from intrinsics_core.protocol.call import Call
from intrinsics_core.protocol.errors import InvalidInput, UnsupportedIntrinsic
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
from intrinsics_core.text.headings import BOLD, heading_level
from intrinsics_core.text.layout import is_item
from intrinsics_core.text.tables import is_row, is_rule

NAME = "revise"
NOTHING_LEFT = "no sentence of the answer is supported"
_NOTHING_BELOW = "nothing is left of what it introduces"
_DOUBTED = ("partial", "unfaithful")
_DROPPED = ("unfaithful",)  # without a model that could mend: half of a sentence cannot be dropped

_SECTION = 6  # the lowest level of a heading that prose behind its list belongs to
_LINE, _RULE = BOLD, BOLD + 1  # the levels of any other line that introduces, and of the rule below the head of a table


def _as_it_is(task: Task, why: str) -> RevisedAnswer:
    answer = task.last.content if task.response.strip() else ""
    return RevisedAnswer(answer=answer, changes=(), unsupported=(), reason=why)


def _failed(task: Task, why: str) -> RevisedAnswer:
    return RevisedAnswer(answer=task.last.content, changes=(), unsupported=(), degraded=why)


@register(
    NAME,
    result=RevisedAnswer,
    ends_with=("assistant",),
    needs_documents=True,
    empty=_as_it_is,
    fallbacks={"fallback": _failed},
    needs="answer, documents",
    gives="the answer without what the documents do not say, what changed, what stays unsupported",
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
        verdicts: on this very answer, where it was judged before; it is judged first where left out.
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
        InvalidInput: if the input is invalid, or the verdicts are not about this answer. It is raised by this function,
            not by `run`.

    Example:

        >>> from intrinsics_core import revise, run
        >>> question = [{"role": "user", "content": "Who built the lighthouse?"}]
        >>> documents = ["Ada Brink built the lighthouse in 1911.", "Fog is common in May."]
        >>> answer = [*question, {"role": "assistant", "content": "Ada Brink built the lighthouse in 1911."}]
        >>> run(revise(answer, documents)).answer
        'Ada Brink built the lighthouse in 1911.'
    """
    made = call(NAME, messages, documents, date=date, program=partial(_program, verdicts=verdicts, mend=mend),
                on_error=on_error)  # fmt: skip
    for i, sentence in enumerate(verdicts.sentences if verdicts else ()):
        if made.task.response[sentence.begin : sentence.end] != sentence.text:
            raise InvalidInput(f"verdicts.sentences[{i}] is not a sentence of this answer", intrinsic=NAME,
                               expected="verdicts on the last assistant turn", got=repr(sentence.text))  # fmt: skip
    return replace(made, composite=True)


def _program(
    task: Task, profile: Profile, *, verdicts: HallucinationDetection | Audit | None, mend: bool
) -> Program[RevisedAnswer]:
    judged = verdicts or (yield from _judged(task, profile, task.last.content))
    sentences: Sequence[SentenceVerdict] = judged.sentences
    writer = _writer(profile) if mend else None
    wanted = _DOUBTED if writer else _DROPPED
    flagged = {i: s.explanation or s.label for i, s in enumerate(sentences) if s.label in wanted}
    if not flagged:
        return _result(task.last.content, (), judged)
    texts, dropped = dict.fromkeys(flagged, ""), 0
    if writer:
        spans = tuple((s.begin, s.end, s.text) for s in sentences)
        asked = replace(task, options={"sentences": spans, "flagged": flagged})
        mended: Mendings = yield from writer.ask(NAME, asked)
        texts = {one.sentence: one.text for one in mended.mended}
        dropped = mended.dropped
    for i in _emptied(sentences, {i for i, text in texts.items() if not text.strip()}):
        texts[i], flagged[i] = "", _NOTHING_BELOW
    changes = changed(task.last.content, [(s.begin, s.end) for s in sentences], texts, flagged)
    answer = applied(task.last.content, changes)
    if not answer.strip():
        return RevisedAnswer(answer="", changes=changes, unsupported=(), reason=NOTHING_LEFT, dropped=dropped)
    again = judged if not changes else (yield from _judged(task, profile, answer))
    told = _result(answer, changes, again, dropped=dropped)
    nothing = again.label == "NA" and not again.missing and any(not change.after for change in changes)
    return told.model_copy(update={"reason": NOTHING_LEFT}) if nothing else told


def _emptied(sentences: Sequence[SentenceVerdict], dropped: set[int]) -> set[int]:
    """The headings and introductions below which nothing is left, something having been dropped."""
    levels, found = [_level(sentences, i) for i in range(len(sentences))], set[int]()
    for i in reversed(range(len(sentences))):
        below = list(_below(i, levels, sentences)) if levels[i] and i not in dropped else []
        if below and dropped.union(found).issuperset(below):
            found.add(i)
    return found


def _below(i: int, levels: Sequence[int], sentences: Sequence[SentenceVerdict]) -> Iterator[int]:
    """The sentences that a heading or an introduction stands above.

    A list or a table ends what a line above it introduces. Below a heading prose may follow it, but no courtesy.
    """
    listed = False
    for j in range(i + 1, len(sentences)):
        part = _is_part(sentences[j].text)
        over = listed and not part and not levels[j] and (levels[i] > _SECTION or sentences[j].label == "NA")
        if over or 0 < levels[j] <= levels[i]:
            return
        listed = part
        yield j


def _level(sentences: Sequence[SentenceVerdict], i: int) -> int:
    """Of a sentence that claims nothing, the level of the heading or introduction that it is; 0 where it is none."""
    text = sentences[i].text
    if sentences[i].label != "NA" or i + 1 == len(sentences):
        return 0
    if is_row(text):
        return _RULE if is_rule(text) else 0 if i and is_row(sentences[i - 1].text) else _LINE
    if level := heading_level(text):
        return level
    names = text[-1:].isalnum() and not is_item(text) and _is_part(sentences[i + 1].text)
    return _LINE if names or text.endswith((":", "：")) else 0


def _is_part(text: str) -> bool:
    """Whether a sentence is an item of a list or a row of a table."""
    return is_item(text) or is_row(text)


def _judged(task: Task, profile: Profile, answer: str) -> Program[HallucinationDetection]:
    turns = task.answered(answer).messages
    return (yield from hallucination_detection(turns, task.documents, date=task.date).start(profile))


def _writer(profile: Profile) -> Profile | None:
    """The profile that mends, where one does."""
    try:
        serving = profile.serving(NAME)
    except UnsupportedIntrinsic:
        return None
    return serving if NAME in serving else None


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


def changed(
    answer: str, sentences: Sequence[tuple[int, int]], texts: Mapping[int, str], why: Mapping[int, str]
) -> tuple[Change, ...]:
    """The changes that put these texts in place of sentences, by number. What is as it was is no change.

    A sentence that is dropped takes the space behind it along; the last ones the space before them.
    """
    kept = [i for i in range(len(sentences)) if texts.get(i, "as it is").strip()]
    last = kept[-1] if kept else -1
    changes = []
    for i, (begin, end) in enumerate(sentences):
        if i not in texts:
            continue
        after = texts[i].strip()
        if not after and i < last:
            end = sentences[i + 1][0]
        elif not after:
            begin, end = (sentences[i - 1][1] if i else 0), (len(answer) if i + 1 == len(sentences) else end)
        if after != answer[begin:end]:
            changes.append(Change(begin=begin, end=end, before=answer[begin:end], after=after, why=why.get(i, "")))
    return tuple(changes)


def applied(answer: str, changes: Sequence[Change]) -> str:
    """The answer with these changes made; they do not overlap."""
    parts: list[Any] = []
    at = 0
    for change in sorted(changes, key=lambda change: change.begin):
        parts += [answer[at : change.begin], change.after]
        at = change.end
    return "".join([*parts, answer[at:]])
