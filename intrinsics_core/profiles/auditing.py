"""A whole audit as one request of the ``prompted`` profile: one schema, one reading of the documents.

The reply's fields are read one by one. One that is malformed costs its own part; only where none can be read is the
reply as a whole malformed, and asked for again. Sentences whose verdict is missing are asked for once more by
themselves, with their sources where these are missing, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from intrinsics_core.calibration.probabilities import tenth
from intrinsics_core.intrinsics.audit import PARTS
from intrinsics_core.profiles import asking, sentence_verdicts
from intrinsics_core.protocol.errors import IntrinsicsError, InvalidInput, MalformedReply
from intrinsics_core.protocol.profile import Format
from intrinsics_core.protocol.requests import Generate, Generated, Program, Reply
from intrinsics_core.protocol.results import Answerability, AuditParts, Citations, HallucinationDetection, Uncertainty
from intrinsics_core.protocol.task import Task
from intrinsics_core.replies import json_reply, readers, sentence_ids, writers
from intrinsics_core.replies.labels import label_probabilities

ANSWERABLE = (
    "Do the documents contain the answer to {}? Say 'answerable' if they do, 'unanswerable' if they do not. State your "
    "confidence in the label from 0 to 1."
)
ANSWERS = "Does the response answer the last user turn of the conversation, be it true or not?"
CORRECT = (
    "Is the response a correct answer to the conversation? Where there are documents, judge by them. Answer 'yes' or "
    "'no'."
)


def certainty(task: Task, label: asking.Label) -> Uncertainty:
    """How likely a yes is: the middle of its tenth on the label's side, and itself with log-probabilities."""
    text, reply, start, _ = label
    likely, denied = asking.yes(label), json_reply.label(text, asking.YES_NO, reply.text) == "no"
    middle = round(1 - tenth(1 - likely), 2) if denied else tenth(likely)
    measured = label_probabilities(reply.logprobs, asking.YES_NO, start)
    return Uncertainty(certainty=middle, expected=likely if measured else None)


def correct(task: Task, value: Uncertainty) -> tuple[str, float]:
    writers.certainty(value)
    return asking.YES_NO[(value.certainty or 0.0) < 0.5], value.certainty or 0.0


def probability(label: asking.Label) -> float:
    return readers.answerability(*label).probability or 0.0


def answerable(task: Task, value: Answerability) -> tuple[str, float]:
    return writers.answerability(value), value.probability or 0.0


@dataclass(frozen=True, slots=True)
class _Said:
    """What one part adds to the request, and how it is read from the reply and written in it.

    ``schema`` has fields of the reply; those of each sentence's row where ``each`` tokens are added for a sentence.
    """

    instruction: str
    shape: str
    schema: Mapping[str, Any]
    read: Callable[[Task, dict[str, Any], Generated], Any]
    write: Callable[[Task, Any], Any]
    tokens: int = 0
    each: int = 0


# In the order of the reply. A sentence's verdict comes after its reason, what is said of the whole after the sentences.
_SAID: Mapping[str, _Said] = {
    "answerability": _Said(
        ANSWERABLE.format("the last user turn of the conversation"),
        '"answerability": "...", "confidence": ...',
        {"answerability": asking.enum_of(readers.ANSWERABLE), "confidence": asking.CONFIDENCE},
        lambda task, value, reply: readers.answerability(
            *asking.label_in(value, reply, "answerability", value.get("confidence"))
        ),
        lambda task, value: asking.label_fields(
            "answerability", readers.ANSWERABLE, probability, *answerable(task, value)
        ),
        tokens=60,
    ),
    "hallucination-detection": _Said(
        f"For each response sentence, {sentence_verdicts.COMPARE}",
        '"reason": "...", "faithfulness": "..."',
        sentence_verdicts.VERDICT,
        sentence_verdicts.hallucination,
        sentence_verdicts.verdicts_said,
        each=99,
    ),
    "citations": _Said(
        sentence_verdicts.CITE,
        '"sources": ["..."]',
        sentence_verdicts.SOURCES,
        sentence_verdicts.citations,
        sentence_verdicts.sources_said,
        each=64,
    ),
    "answer-relevance": _Said(
        f"{ANSWERS} 'yes' or 'no'.",
        '"answers_question": "..."',
        {"answers_question": asking.enum_of(asking.YES_NO)},
        lambda task, value, reply: asking.yes(asking.label_in(value, reply, "answers_question")),
        lambda task, value: {"answers_question": asking.YES_NO[writers.share(value) < 0.5]},
        tokens=30,
    ),
    "uncertainty": _Said(
        f"{CORRECT} State your certainty of that from 0 to 1.",
        '"correct": "...", "certainty": ...',
        {"correct": asking.enum_of(asking.YES_NO), "certainty": asking.CONFIDENCE},
        lambda task, value, reply: certainty(task, asking.label_in(value, reply, "correct", value.get("certainty"))),
        lambda task, value: asking.label_fields(
            "correct", asking.YES_NO, asking.yes, *correct(task, value), "certainty"
        ),
        tokens=30,
    ),
}
assert set(_SAID) == set(PARTS)
_SENTENCES = tuple(part for part, about in _SAID.items() if about.each)


def _asked(task: Task) -> tuple[str, ...]:
    """The parts that are asked for, in the order of the reply."""
    wanted = task.options.get("parts", PARTS)
    return tuple(part for part in _SAID if part in wanted)


def _render(task: Task) -> Sequence[Generate]:
    parts = [_SAID[part] for part in _asked(task)]
    rows = [about for about in parts if about.each]
    shapes: list[str] = []
    fields: dict[str, Any] = {}
    for about in parts:
        if not about.each:
            shapes.append(about.shape)
            fields |= about.schema
        elif "sentences" not in fields:
            shapes.append(f'"sentences": [{{"id": "r0", {", ".join(row.shape for row in rows)}}}, ...]')
            inner = {name: kind for row in rows for name, kind in row.schema.items()}
            fields["sentences"] = sentence_verdicts.one_each(task, **inner)
    shape = "{" + ", ".join(shapes) + "}" + (", one entry of sentences per response sentence." if rows else "")
    instruction = "The response and the documents are given sentence by sentence. "
    instruction += " ".join(about.instruction for about in parts)
    tokens = 50 + sum(about.tokens for about in parts)
    tokens += sum(about.each for about in rows) * (1 + len(sentence_verdicts.wanted(task)))
    schema = asking.object_of(**fields)
    return asking.json_request(task, "audit", instruction, shape, _shown(task), schema, max_tokens=tokens)


def _shown(task: Task) -> dict[str, Any]:
    return {
        "documents": asking.numbered_documents(task, titled=True),
        "conversation": asking.turns_shown(task)[:-1],
        **asking.calls_shown(task),
        "response": sentence_verdicts.response_shown(task),
    }


def _parse(task: Task, replies: Sequence[Reply]) -> AuditParts:
    value, reply = asking.read_object(replies, "one object with " + ", ".join(_asked(task)))
    found: dict[str, Any] = {}
    failed: dict[str, MalformedReply] = {}
    for part in _asked(task):
        try:
            found[PARTS[part]] = _SAID[part].read(task, value, reply)
        except MalformedReply as error:
            failed[part] = error
    if not found:
        raise next(iter(failed.values()))
    notes = {part: f"no {part}: {type(error).__name__}: {error.message}" for part, error in failed.items()}
    for part in _SENTENCES:  # they can be asked for by themselves
        if part in notes:
            found[PARTS[part]] = _MISSING[part](task).model_copy(update={"degraded": notes.pop(part)})
    return AuditParts(**found, degraded="; ".join(notes.values()) or None)


_MISSING: Mapping[str, Callable[[Task], HallucinationDetection | Citations]] = {
    "hallucination-detection": sentence_ids.all_missing,
    "citations": lambda task: sentence_ids.uncited(task, len(task.response_sentences)),
}


def _complete(task: Task, found: AuditParts) -> Program[AuditParts]:
    """Ask once more for the sentences without a verdict, and for their sources where sources are missing, too."""
    verdicts, cited = found.hallucination, found.citations
    if verdicts is None or not verdicts.missing:
        return found
    if cited is None or not cited.missing:
        more = yield from sentence_verdicts.ask_missing(task, verdicts)
        return found.model_copy(update={"hallucination": more})
    about = sentence_verdicts.asked_about(task, sentence_verdicts.unjudged(verdicts), parts=_SENTENCES)
    try:
        replies = yield _render(about)
        value, reply = asking.read_object(replies, '{"sentences": [{...}, ...]}')  # type: ignore[arg-type]  # only replies
        verdicts = sentence_verdicts.completed(about, verdicts, value, reply)
    except IntrinsicsError as error:
        told = {part: sentence_verdicts.telling(getattr(found, part), error) for part in ("hallucination", "citations")}
        return found.model_copy(update=told)
    try:
        cited = sentence_verdicts.cited(about, cited, value, reply)
    except MalformedReply as error:  # it has verdicts alone
        cited = sentence_verdicts.telling(cited, error)
    return found.model_copy(update={"hallucination": verdicts, "citations": cited})


def _write(task: Task, value: AuditParts) -> str:
    writers.given(value, AuditParts)
    reply: dict[str, Any] = {}
    for part in _asked(task):
        found, about = getattr(value, PARTS[part]), _SAID[part]
        if found is None:
            raise InvalidInput(f"{PARTS[part]} was asked for but is missing", expected="a verdict", got="None")
        written = about.write(task, found)
        if about.each:
            rows = reply.get("sentences", written)
            written = {"sentences": [row | more for row, more in zip(rows, written, strict=True)]}
        reply |= written
    return asking.said(**reply)


FORMAT = Format(_render, _parse, _write, _complete)
