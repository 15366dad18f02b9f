"""Verdicts on the sentences of a response: how any instruction-following model is asked for them.

A reply that leaves sentences out is kept, and the model is asked once more for these alone. What is still left out then
is counted in the result as ``missing``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

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
from intrinsics_core.protocol.errors import IntrinsicsError
from intrinsics_core.protocol.requests import Generated, Program
from intrinsics_core.protocol.results import AuditParts, HallucinationDetection
from intrinsics_core.protocol.task import Task
from intrinsics_core.replies import json_reply, readers, sentence_ids

CLAIMS_NOTHING = (
    "'NA' if it claims nothing about what documents could hold (courtesy, an offer, a question back, that it does not "
    "know, a refusal, or the report of an action whose call stands in 'tool_calls'; without that call a report is a "
    "claim)"
)
_ONLY = "sentences"  # an option of the task: the numbers of the sentences that are asked about; all where left out


def wanted(task: Task) -> Sequence[int]:
    """The numbers of the response sentences that are asked about."""
    return task.options.get(_ONLY) or range(len(task.response_sentences))


def one_each(task: Task, **fields: Any) -> dict[str, Any]:
    """The schema of a list with one entry for each sentence that is asked about: none is left out, none made up."""
    numbers = wanted(task)
    return array_of(object_of(id=enum_of([f"r{i}" for i in numbers] or ["r0"]), **fields), len(numbers))


def _schema(task: Task) -> dict[str, Any]:
    return object_of(sentences=one_each(task, reason=TEXT, faithfulness=enum_of(readers.FAITHFULNESS)))


def response_by_sentence(task: Task) -> dict[str, Any]:
    """The conversation, the documents, and the sentences that are asked about."""
    sentences = task.response_sentences
    return {
        "conversation": turns(task)[:-1],
        "documents": documents_shown(task),
        **calls_shown(task),
        "response": {name: text for i in wanted(task) for name, text in numbered([sentences[i]], "r", i).items()},
    }


render = asking(
    "hallucination-detection",
    "The response is given sentence by sentence. For each sentence, compare what it claims with the "
    "documents alone. First give the reason, quoting the document where you can, then the verdict: "
    "'faithful' if the documents support all of it, 'partial' if they support a part, 'unfaithful' if they "
    f"do not support it or contradict it, {CLAIMS_NOTHING}.",
    '{"sentences": [{"id": "r0", "reason": "...", '
    '"faithfulness": "faithful" | "partial" | "unfaithful" | "NA"}, ...]}, one entry per sentence.',
    _schema,
    response_by_sentence,
    99,
    per_sentence=True,
)


def read(rows: Sequence[dict[str, Any]], reply: Generated) -> list[tuple[int | None, sentence_ids.Verdict]]:
    """The verdicts in the rows of a reply, by sentence number."""
    return readers.verdicts(rows, reply, "id", "faithfulness", "reason")


def rows_of(value: dict[str, Any], reply: Generated, name: str = "sentences") -> list[dict[str, Any]]:
    """The rows of a reply's list of objects."""
    listed = json_reply.field(value, name, list, "a list", reply.text)
    return readers.objects(listed, reply, f'{{"{name}": [{{...}}, ...]}}')


def ask_missing(task: Task, found: HallucinationDetection) -> Program[HallucinationDetection]:
    """Ask once more for the sentences without a verdict; where that fails, they stay missing and the others stand."""
    missing = [i for i, sentence in enumerate(found.sentences) if not sentence.judged]
    if not missing:
        return found
    try:
        replies = yield render(replace(task, options={**task.options, _ONLY: missing}))
        reply = readers.generated(replies)  # type: ignore[arg-type]  # only replies are sent in
        value = json_reply.parse(reply.text, dict, '{"sentences": [{...}, ...]}')
        more = read(rows_of(value, reply), reply)
    except IntrinsicsError:
        return found
    given: list[tuple[Any, sentence_ids.Verdict]] = [
        (i, (sentence.label, sentence.score, sentence.explanation))
        for i, sentence in enumerate(found.sentences)
        if sentence.judged
    ]
    whole = sentence_ids.hallucination(task, [*given, *more])
    return whole.model_copy(update={"dropped": found.dropped + whole.dropped})


def ask_missing_of_audit(task: Task, found: AuditParts) -> Program[AuditParts]:
    """The same for the part of an audit that is said sentence by sentence."""
    if found.hallucination is None or not found.hallucination.missing:
        return found
    return found.model_copy(update={"hallucination": (yield from ask_missing(task, found.hallucination))})
