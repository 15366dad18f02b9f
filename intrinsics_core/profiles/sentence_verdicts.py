"""Verdicts and citations by sentence of a response: how any instruction-following model is asked for them.

A reply that leaves sentences out, or whose label for some of them cannot be read, is kept, and the model is asked once
more for these alone. What is still left out then is counted in the result as ``missing``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from intrinsics_core.profiles import asking
from intrinsics_core.protocol.errors import IntrinsicsError, MalformedReply
from intrinsics_core.protocol.profile import Format
from intrinsics_core.protocol.requests import Generated, Program
from intrinsics_core.protocol.results import Citations, HallucinationDetection, Result
from intrinsics_core.protocol.task import Task
from intrinsics_core.replies import json_reply, readers, sentence_ids, writers

CLAIMS_NOTHING = (
    "'NA' if it claims nothing about what documents could hold (courtesy, an offer, a question back, that it does not "
    "know, a refusal, or the report of an action whose call stands in 'tool_calls'; without that call a report is a "
    "claim)"
)
COMPARE = (
    "compare what it claims with the documents alone. First give the reason, quoting the document where you can, then "
    "the verdict: 'faithful' if the documents support all of it, 'partial' if they support a part, 'unfaithful' if they"
    f" do not support it or contradict it, {CLAIMS_NOTHING}."
)
CITE = (
    "For each response sentence, list the ids of the document sentences that it rests on: as few as carry all of its "
    "claims, none if there are none."
)
VERDICT: Mapping[str, Any] = {"reason": asking.TEXT, "faithfulness": asking.enum_of(readers.FAITHFULNESS)}
SOURCES: Mapping[str, Any] = {"sources": asking.array_of(asking.id_of("c"))}
_ONLY = "sentences"  # an option of the task: the numbers of the sentences that are asked about; all where left out
_ROWS = '{"sentences": [{...}, ...]}'
Missing = TypeVar("Missing", bound=Result)


# --- how they are asked ---------------------------------------------------------------------------------------------


def wanted(task: Task) -> Sequence[int]:
    """The numbers of the response sentences that are asked about."""
    return task.options.get(_ONLY) or range(len(task.response_sentences))


def asked_about(task: Task, numbers: Sequence[int], **options: Any) -> Task:
    """The same, asked about these sentences alone."""
    return replace(task, options={**task.options, **options, _ONLY: numbers})


def one_each(task: Task, *, sentence: str = "id", **fields: Any) -> dict[str, Any]:
    """The schema of a list with one entry for each sentence that is asked about: none is left out, none made up.

    ``sentence`` is the field that names the sentence, ``fields`` are the schemas of the others.
    """
    numbers = wanted(task)
    ids = asking.enum_of([f"r{i}" for i in numbers] or ["r0"])
    return asking.array_of(asking.object_of(**{sentence: ids}, **fields), len(numbers))


def response_shown(task: Task) -> dict[str, str]:
    """The sentences that are asked about, by id."""
    sentences = task.response_sentences
    return {name: text for i in wanted(task) for name, text in asking.numbered([sentences[i]], "r", i).items()}


def _shown(task: Task) -> dict[str, Any]:
    return {**asking.before_response(task), **asking.calls_shown(task), "response": response_shown(task)}


# --- how a reply is read --------------------------------------------------------------------------------------------


def _rows(value: dict[str, Any], reply: Generated, name: str = "sentences") -> list[dict[str, Any]]:
    """The rows of a reply's list of objects."""
    listed = json_reply.field(value, name, list, "a list", reply.text)
    return readers.objects(listed, reply, f'{{"{name}": [{{...}}, ...]}}')


def _verdicts(
    task: Task, rows: Sequence[dict[str, Any]], reply: Generated
) -> list[tuple[int | None, sentence_ids.Verdict]]:
    """The verdicts in the rows of a reply, by sentence number: None for a row whose label cannot be read.

    Raises:
        MalformedReply: no row can be read, or the sentences are numbered from 1.
    """
    numbers, places = readers.row_numbers(rows, "id"), readers.label_places(reply, "faithfulness", len(rows))
    sentence_ids.check_numbers(numbers, wanted(task), reply)
    found: list[tuple[int | None, sentence_ids.Verdict]] = []
    failed: MalformedReply | None = None
    for number, row, at in zip(numbers, rows, places, strict=True):
        try:
            found.append((number, readers.verdict(row, reply, "faithfulness", "reason", at)))
        except MalformedReply as error:
            failed = error
            found.append((None, ("NA", None, None)))
    if failed and all(number is None for number, _ in found):
        raise failed
    return found


def hallucination(task: Task, value: dict[str, Any], reply: Generated) -> HallucinationDetection:
    """The verdicts in a reply's object."""
    return sentence_ids.hallucination(task, _verdicts(task, _rows(value, reply), reply))


def citations(
    task: Task, value: dict[str, Any], reply: Generated, name: str = "sentences", sentence: str = "id"
) -> Citations:
    """The citations in a reply's object; a sentence without a row is missing, one without sources is not.

    Rows stand in field ``name``, and field ``sentence`` of a row names its sentence.

    Raises:
        MalformedReply: sources are no list, or the sentences are numbered from 1.
    """
    rows = _rows(value, reply, name)
    told = readers.row_numbers(rows, sentence)
    sentence_ids.check_numbers(told, wanted(task), reply)
    return sentence_ids.citations(task, readers.links(rows, reply, sentence, "sources"), told=told)


# --- what a reply left out ------------------------------------------------------------------------------------------


def unjudged(found: HallucinationDetection) -> list[int]:
    """The numbers of the sentences without a verdict."""
    return [i for i, sentence in enumerate(found.sentences) if not sentence.judged]


def ask_missing(task: Task, found: HallucinationDetection) -> Program[HallucinationDetection]:
    """Ask once more for the sentences without a verdict; where that fails, they stay missing and the others stand."""
    if not (missing := unjudged(found)):
        return found
    about = asked_about(task, missing)
    try:
        replies = yield _render(about)
        return completed(about, found, *asking.read_object(replies, _ROWS))  # type: ignore[arg-type]  # only replies
    except IntrinsicsError as error:
        return telling(found, error)


def completed(
    about: Task, found: HallucinationDetection, value: dict[str, Any], reply: Generated
) -> HallucinationDetection:
    """The verdicts that were given, and those in a reply on the sentences that were asked about now."""
    asked = wanted(about)
    given: list[tuple[Any, sentence_ids.Verdict]] = [
        (i, (s.label, s.score, s.explanation)) for i, s in enumerate(found.sentences) if s.judged
    ]
    more = _verdicts(about, _rows(value, reply), reply)
    given += [(number if number in asked else None, verdict) for number, verdict in more]
    whole = sentence_ids.hallucination(about, given)
    return whole.model_copy(update={"dropped": found.dropped + whole.dropped})


def cited(about: Task, found: Citations, value: dict[str, Any], reply: Generated) -> Citations:
    """The citations that were given, and those in a reply on the sentences that were asked about and have none."""
    rows, asked = _rows(value, reply), set(wanted(about))
    given = writers.cited(about, Citations(citations=found.citations))
    links: list[tuple[int | None, int | None]] = [(r, c) for r, numbers in enumerate(given) for c in numbers]
    more = readers.links(rows, reply, "id", "sources")
    links += [link for link in more if link[0] is not None and link[0] in asked and not given[link[0]]]
    told = asked.intersection(readers.row_numbers(rows, "id"))
    # Which of the sentences that were asked about had no row before is not known: the most that may be missing is told.
    missing = min(found.missing, max(found.missing, len(asked)) - len(told))
    whole = sentence_ids.citations(about, links, dropped=found.dropped)
    left = sentence_ids.uncited(about, missing)
    return whole.model_copy(update={"missing": left.missing, "degraded": left.degraded})


def telling(found: Missing, error: IntrinsicsError) -> Missing:
    """The same, with what failed when the rest was asked for."""
    return found.model_copy(update={"degraded": f"{found.degraded} ({type(error).__name__}: {error.message})"})


# --- how results are written as a reply -------------------------------------------------------------------------------


def verdicts_said(task: Task, value: HallucinationDetection) -> list[dict[str, Any]]:
    return [
        {"id": f"r{i}", "reason": verdict.explanation or "", "faithfulness": verdict.label}
        for i, verdict in enumerate(writers.verdicts(task, value))
    ]


def sources_said(task: Task, value: Citations, sentence: str = "id") -> list[dict[str, Any]]:
    return [
        {sentence: f"r{i}", "sources": [f"c{number}" for number in numbers]}
        for i, numbers in enumerate(writers.cited(task, value))
    ]


# --- the formats ----------------------------------------------------------------------------------------------------

_render = asking.for_json(
    "hallucination-detection",
    f"The response is given sentence by sentence. For each sentence, {COMPARE}",
    '{"sentences": [{"id": "r0", "reason": "...", "faithfulness": "..."}, ...]}, one entry per sentence.',
    lambda task: asking.object_of(sentences=one_each(task, **VERDICT)),
    _shown,
    99,
    per="sentence",
)


FORMATS: Mapping[str, Format[Any]] = {
    "hallucination-detection": Format(
        _render,
        lambda task, replies: hallucination(task, *asking.read_object(replies, _ROWS)),
        lambda task, value: asking.said(sentences=verdicts_said(task, value)),
        ask_missing,
    ),
    "citations": Format(
        asking.for_json(
            "citations",
            f"The response and the documents are given sentence by sentence. {CITE}",
            '{"citations": [{"response": "r0", "sources": ["..."]}, ...]}, one entry per response sentence.',
            lambda task: asking.object_of(citations=one_each(task, sentence="response", **SOURCES)),
            lambda task: _shown(task) | {"documents": asking.numbered_documents(task, titled=False)},
            64,
            per="sentence",
        ),
        lambda task, replies: citations(
            task, *asking.read_object(replies, '{"citations": [{...}, ...]}'), "citations", "response"
        ),
        lambda task, value: asking.said(citations=sources_said(task, value, "response")),
    ),
}
