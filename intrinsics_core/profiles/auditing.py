"""A whole audit as one request of the ``prompted`` profile: one schema, one reading of the documents.

The reply's fields are read one by one. One that is malformed costs its own part; only where none can be read is the
reply as a whole malformed, and asked for again. Sentences whose verdict is missing are asked for once more by
themselves, with their sources where these are missing, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from intrinsics_core.intrinsics.audit import PARTS
from intrinsics_core.profiles import sentence_verdicts
from intrinsics_core.profiles.asking import (
    CONFIDENCE,
    TAIL,
    TEXT,
    answerability_fields,
    array_of,
    calls_shown,
    enum_of,
    id_of,
    json_request,
    numbered_documents,
    object_of,
    read_object,
    said,
    turns_of,
    turns_shown,
)
from intrinsics_core.protocol.errors import IntrinsicsError, InvalidInput, MalformedReply
from intrinsics_core.protocol.profile import Format
from intrinsics_core.protocol.requests import Generate, Generated, Program, Reply
from intrinsics_core.protocol.results import AuditParts, Citations, HallucinationDetection
from intrinsics_core.protocol.task import Task
from intrinsics_core.replies import json_reply, readers, sentence_ids, writers

_ADDRESSES = ("yes", "no")
_SENTENCES = ("hallucination-detection", "citations")  # the parts that are said sentence by sentence
_VERDICT = '"reason": "...", "faithfulness": "..."'
_SOURCES = '"sources": ["c3", "c4"]'


@dataclass(frozen=True, slots=True)
class _Said:
    """What one part adds to the request: words, the reply's shape, schema fields, tokens (of each sentence, too)."""

    instruction: str
    shape: str
    schema: Mapping[str, Any]
    tokens: int = 0
    each: int = 0
    row: Mapping[str, Any] = field(default_factory=dict)


# In the order of the reply. A sentence's verdict comes after its reason, what is said of the whole after the sentences.
_SAID: Mapping[str, _Said] = {
    "answerability": _Said(
        "Judge whether the documents hold the information needed to answer the last user turn of the conversation: the "
        "documents alone, not what you know. Say 'unanswerable' if they do not, 'answerable' if they do. State your "
        "confidence in the label from 0 to 1.",
        '"answerability": "...", "confidence": ...',
        {"answerability": enum_of(readers.ANSWERABLE), "confidence": CONFIDENCE},
        tokens=60,
    ),
    "hallucination-detection": _Said(
        "For each response sentence, compare what it claims with the documents alone. First give the reason, quoting "
        "the document where you can, then the verdict: 'faithful' if the documents support all of it, 'partial' if "
        "they support a part, 'unfaithful' if they do not support it or contradict it, "
        f"{sentence_verdicts.CLAIMS_NOTHING}.",
        _VERDICT,
        {},
        each=99,
        row={"reason": TEXT, "faithfulness": enum_of(readers.FAITHFULNESS)},
    ),
    "citations": _Said(
        "For each response sentence, list the ids of the document sentences that it rests on: as few as carry all of "
        "its claims, none if there are none.",
        _SOURCES,
        {},
        each=64,
        row={"sources": array_of(id_of("c"))},
    ),
    "answer-relevance": _Said(
        "Judge whether the response addresses the last user turn of the conversation, true or not: 'yes' or 'no'.",
        '"answers_question": "..."',
        {"answers_question": enum_of(_ADDRESSES)},
        tokens=30,
    ),
    "uncertainty": _Said(
        "Judge how certain it is that the response is correct. Say it with a digit: 0 is a 5% chance, 1 is 15%, and so "
        "on to 9, which is 95%.",
        '"certainty": "..."',
        {"certainty": enum_of(readers.DIGITS)},
        tokens=30,
    ),
}
assert set(_SAID) == set(PARTS)


def _asked(task: Task) -> tuple[str, ...]:
    """The parts that are asked for, in the order of the reply."""
    wanted = task.options.get("parts", PARTS)
    return tuple(part for part in _SAID if part in wanted)


def _render(task: Task) -> Sequence[Generate]:
    parts = [(part, _SAID[part]) for part in _asked(task)]
    rows = {name: kind for _, said in parts for name, kind in said.row.items()}
    shapes: list[str] = []
    fields: dict[str, Any] = {}
    for part, about in parts:
        if part not in _SENTENCES:
            shapes.append(about.shape)
            fields |= about.schema
        elif "sentences" not in fields:
            inner = ", ".join(said.shape for name, said in parts if name in _SENTENCES)
            shapes.append(f'"sentences": [{{"id": "r0", {inner}}}, ...]')
            fields["sentences"] = sentence_verdicts.one_each(task, **rows)
    each = sum(about.each for _, about in parts)
    shape = "{" + ", ".join(shapes) + "}" + (", one entry of sentences per response sentence." if each else "")
    instruction = "The response and the documents are given sentence by sentence. "
    instruction += " ".join(about.instruction for _, about in parts)
    tokens = 50 + sum(about.tokens for _, about in parts) + each * (1 + len(sentence_verdicts.wanted(task)))
    return json_request(task, "audit", turns_of(instruction + TAIL + shape, _shown(task)), object_of(**fields), tokens)


def _shown(task: Task) -> dict[str, Any]:
    # The documents first: what follows them differs from one answer to the next, and a server keeps what it read.
    return {
        "documents": numbered_documents(task, titled=True),
        "conversation": turns_shown(task)[:-1],
        **calls_shown(task),
        "response": sentence_verdicts.response_shown(task),
    }


# --- how the reply is read ----------------------------------------------------------------------------------------


def _parse(task: Task, replies: Sequence[Reply]) -> AuditParts:
    value, reply = read_object(replies, "one object with " + ", ".join(_asked(task)))
    found: dict[str, Any] = {}
    failed: list[tuple[str, MalformedReply]] = []
    for part in _asked(task):
        try:
            found[PARTS[part]] = _READ[part](task, value, reply)
        except MalformedReply as error:
            failed.append((part, error))
    if not found:
        raise failed[0][1]
    notes = {part: f"no {part}: {type(error).__name__}: {error.message}" for part, error in failed}
    for part in _SENTENCES:  # they can be asked for by themselves
        if part in notes:
            found[PARTS[part]] = _MISSING[part](task).model_copy(update={"degraded": notes.pop(part)})
    return AuditParts(**found, degraded="; ".join(notes.values()) or None)


_MISSING: Mapping[str, Callable[[Task], HallucinationDetection | Citations]] = {
    "hallucination-detection": sentence_ids.all_missing,
    "citations": lambda task: sentence_ids.uncited(task, len(task.response_sentences)),
}


def _answerability(task: Task, value: dict[str, Any], reply: Generated) -> Any:
    label = json_reply.field(value, "answerability", str, "a label", reply.text)
    return readers.answerability(label, reply, readers.value_start(reply, "answerability"), value.get("confidence"))


def hallucination(task: Task, value: dict[str, Any], reply: Generated) -> HallucinationDetection:
    verdicts = sentence_verdicts.read(task, sentence_verdicts.rows_of(value, reply), reply)
    return sentence_ids.hallucination(task, verdicts)


def _citations(task: Task, value: dict[str, Any], reply: Generated) -> Citations:
    return sentence_verdicts.cited(task, sentence_verdicts.rows_of(value, reply), reply)


def _addresses(task: Task, value: dict[str, Any], reply: Generated) -> float:
    text = json_reply.field(value, "answers_question", str, "yes or no", reply.text)
    chosen = json_reply.label(text, _ADDRESSES, reply.text)
    start = readers.value_start(reply, "answers_question")
    return min(1.0, readers.probabilities(chosen, _ADDRESSES, reply, start)["yes"])


def certainty(task: Task, value: dict[str, Any], reply: Generated) -> Any:
    digit = json_reply.field(value, "certainty", (str, int), '"0" … "9"', reply.text)
    return readers.certainty(str(digit), reply, readers.value_start(reply, "certainty"))


_READ: Mapping[str, Callable[[Task, dict[str, Any], Generated], Any]] = {
    "answerability": _answerability,
    "hallucination-detection": hallucination,
    "citations": _citations,
    "answer-relevance": _addresses,
    "uncertainty": certainty,
}


# --- what a reply left out ----------------------------------------------------------------------------------------


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
        value, reply = read_object(replies, '{"sentences": [{...}, ...]}')  # type: ignore[arg-type]  # only replies
        rows = sentence_verdicts.rows_of(value, reply)
        verdicts = sentence_verdicts.completed(about, verdicts, sentence_verdicts.read(about, rows, reply))
    except IntrinsicsError as error:
        told = {part: sentence_verdicts.telling(getattr(found, part), error) for part in ("hallucination", "citations")}
        return found.model_copy(update=told)
    try:
        cited = _completed(about, cited, rows, reply)
    except MalformedReply as error:  # it has verdicts alone
        cited = sentence_verdicts.telling(cited, error)
    return found.model_copy(update={"hallucination": verdicts, "citations": cited})


def _completed(about: Task, found: Citations, rows: Sequence[dict[str, Any]], reply: Generated) -> Citations:
    """The citations that were given, and those of the sentences that were asked about and have none."""
    asked = set(sentence_verdicts.wanted(about))
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


# --- how a result is written as a reply -----------------------------------------------------------------------------


def _write(task: Task, value: AuditParts) -> str:
    writers.given(value, AuditParts)
    parts = _asked(task)
    reply: dict[str, Any] = {}
    for part in parts:
        if getattr(value, PARTS[part]) is None:
            raise InvalidInput(f"{PARTS[part]} was asked for but is missing", expected="a verdict", got="None")
    if value.answerability is not None and "answerability" in parts:
        reply |= answerability_fields(value.answerability)
    if any(part in parts for part in _SENTENCES):
        reply["sentences"] = _written_rows(task, value, parts)
    if value.answer_relevance is not None and "answer-relevance" in parts:
        reply["answers_question"] = _ADDRESSES[0] if writers.share(value.answer_relevance) >= 0.5 else _ADDRESSES[1]
    if value.uncertainty is not None and "uncertainty" in parts:
        reply["certainty"] = writers.certainty(value.uncertainty)
    return said(**reply)


def _written_rows(task: Task, value: AuditParts, parts: Sequence[str]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = [{"id": f"r{i}"} for i in range(len(task.response_sentences))]
    if value.hallucination is not None and "hallucination-detection" in parts:
        for row, verdict in zip(rows, writers.verdicts(task, value.hallucination), strict=True):
            row |= {"reason": writers.explanation(verdict), "faithfulness": verdict.label}
    if value.citations is not None and "citations" in parts:
        for row, numbers in zip(rows, writers.cited(task, value.citations), strict=True):
            row["sources"] = [f"c{number}" for number in numbers]
    return rows


FORMAT = Format(_render, _parse, _write, _complete)
