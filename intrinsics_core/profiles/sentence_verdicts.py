"""Verdicts on the sentences of a response: how any instruction-following model is asked for them.

A reply that leaves sentences out, or whose label for some of them cannot be read, is kept, and the model is asked once
more for these alone. What is still left out then is counted in the result as ``missing``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar

from intrinsics_core.profiles.asking import (
    TEXT,
    array_of,
    asking,
    calls_shown,
    documents_shown,
    enum_of,
    numbered,
    object_of,
)
from intrinsics_core.profiles.asking import turns_shown as turns
from intrinsics_core.protocol.errors import IntrinsicsError, MalformedReply
from intrinsics_core.protocol.requests import Generated, Program
from intrinsics_core.protocol.results import Citations, HallucinationDetection, Result
from intrinsics_core.protocol.task import Task
from intrinsics_core.replies import json_reply, readers, sentence_ids

CLAIMS_NOTHING = (
    "'NA' if it claims nothing about what documents could hold (courtesy, an offer, a question back, that it does not "
    "know, a refusal, or the report of an action whose call stands in 'tool_calls'; without that call a report is a "
    "claim)"
)
Missing = TypeVar("Missing", bound=Result)
_ONLY = "sentences"  # an option of the task: the numbers of the sentences that are asked about; all where left out


def wanted(task: Task) -> Sequence[int]:
    """The numbers of the response sentences that are asked about."""
    return task.options.get(_ONLY) or range(len(task.response_sentences))


def asked_about(task: Task, numbers: Sequence[int], **options: Any) -> Task:
    """The same, asked about these sentences alone."""
    return replace(task, options={**task.options, **options, _ONLY: numbers})


def one_each(task: Task, *, sentence: str = "id", **fields: Any) -> dict[str, Any]:
    """The schema of a list with one entry for each sentence that is asked about: none is left out, none made up.

    Args:
        task: what is asked.
        sentence: the field that names the sentence.
        fields: the schemas of the others.
    """
    numbers = wanted(task)
    ids = enum_of([f"r{i}" for i in numbers] or ["r0"])
    return array_of(object_of(**{sentence: ids}, **fields), len(numbers))


def _schema(task: Task) -> dict[str, Any]:
    return object_of(sentences=one_each(task, reason=TEXT, faithfulness=enum_of(readers.FAITHFULNESS)))


def response_shown(task: Task) -> dict[str, str]:
    """The sentences that are asked about, by id."""
    sentences = task.response_sentences
    return {name: text for i in wanted(task) for name, text in numbered([sentences[i]], "r", i).items()}


def response_by_sentence(task: Task) -> dict[str, Any]:
    """The conversation, the documents, and the sentences that are asked about."""
    return {
        "conversation": turns(task)[:-1],
        "documents": documents_shown(task),
        **calls_shown(task),
        "response": response_shown(task),
    }


render = asking(
    "hallucination-detection",
    "The response is given sentence by sentence. For each sentence, compare what it claims with the "
    "documents alone. First give the reason, quoting the document where you can, then the verdict: "
    "'faithful' if the documents support all of it, 'partial' if they support a part, 'unfaithful' if they "
    f"do not support it or contradict it, {CLAIMS_NOTHING}.",
    '{"sentences": [{"id": "r0", "reason": "...", "faithfulness": "..."}, ...]}, one entry per sentence.',
    _schema,
    response_by_sentence,
    99,
    per_sentence=True,
)


def read(task: Task, rows: Sequence[dict[str, Any]], reply: Generated) -> list[tuple[int | None, sentence_ids.Verdict]]:
    """The verdicts in the rows of a reply, by sentence number: None for a row whose label cannot be read.

    Raises:
        MalformedReply: no row can be read, or the sentences are numbered from 1.
    """
    sentence_ids.check_numbers(readers.row_numbers(rows, "id"), wanted(task), reply)
    found: list[tuple[int | None, sentence_ids.Verdict]] = []
    failed: MalformedReply | None = None
    for row in rows:
        try:
            found += readers.verdicts([row], reply, "id", "faithfulness", "reason")
        except MalformedReply as error:
            failed = error
            found.append((None, ("NA", None, None)))
    if failed and all(number is None for number, _ in found):
        raise failed
    return found


def rows_of(value: dict[str, Any], reply: Generated, name: str = "sentences") -> list[dict[str, Any]]:
    """The rows of a reply's list of objects."""
    listed = json_reply.field(value, name, list, "a list", reply.text)
    return readers.objects(listed, reply, f'{{"{name}": [{{...}}, ...]}}')


def cited(task: Task, rows: Sequence[dict[str, Any]], reply: Generated, sentence: str = "id") -> Citations:
    """The citations in the rows of a reply; a sentence without a row is missing, one without sources is not.

    Raises:
        MalformedReply: sources are no list, or the sentences are numbered from 1.
    """
    told = readers.row_numbers(rows, sentence)
    sentence_ids.check_numbers(told, wanted(task), reply)
    return sentence_ids.citations(task, readers.links(rows, reply, sentence, "sources"), told=told)


def unjudged(found: HallucinationDetection) -> list[int]:
    """The numbers of the sentences without a verdict."""
    return [i for i, sentence in enumerate(found.sentences) if not sentence.judged]


def ask_missing(task: Task, found: HallucinationDetection) -> Program[HallucinationDetection]:
    """Ask once more for the sentences without a verdict; where that fails, they stay missing and the others stand."""
    missing = unjudged(found)
    if not missing:
        return found
    about = asked_about(task, missing)
    try:
        replies = yield render(about)
        reply = readers.generated(replies)  # type: ignore[arg-type]  # only replies are sent in
        rows = rows_of(readers.parsed(reply, dict, '{"sentences": [{...}, ...]}'), reply)
        return completed(about, found, read(about, rows, reply))
    except IntrinsicsError as error:
        return telling(found, error)


def completed(
    about: Task, found: HallucinationDetection, more: Sequence[tuple[int | None, sentence_ids.Verdict]]
) -> HallucinationDetection:
    """The verdicts that were given, and those on the sentences that were asked about now."""
    asked = wanted(about)
    given: list[tuple[Any, sentence_ids.Verdict]] = [
        (i, (sentence.label, sentence.score, sentence.explanation))
        for i, sentence in enumerate(found.sentences)
        if sentence.judged
    ]
    given += [(number if number in asked else None, verdict) for number, verdict in more]
    whole = sentence_ids.hallucination(about, given)
    return whole.model_copy(update={"dropped": found.dropped + whole.dropped})


def telling(found: Missing, error: IntrinsicsError) -> Missing:
    """The same, with what failed when the rest was asked for."""
    return found.model_copy(update={"degraded": f"{found.degraded} ({type(error).__name__}: {error.message})"})
