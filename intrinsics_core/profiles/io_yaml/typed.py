"""Adapters of known intrinsics: their replies as typed results, whatever names an ``io.yaml`` gives to its output.

What is read is the reply itself, by the fields that the file's own ``decode_sentences`` rules name, so that offsets
come from the same place as for every other profile.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from intrinsics_core.profiles.io_yaml import fields
from intrinsics_core.profiles.io_yaml.located import begin_in, label_text, plain, unplaced
from intrinsics_core.profiles.io_yaml.reading import read
from intrinsics_core.profiles.io_yaml.spec import Spec
from intrinsics_core.profiles.io_yaml.transformations import Likelihood
from intrinsics_core.protocol.errors import MalformedReply
from intrinsics_core.protocol.requests import Generated
from intrinsics_core.protocol.results import (
    Answerability,
    Citations,
    HallucinationDetection,
    Judgement,
    QueryRewrite,
    Uncertainty,
)
from intrinsics_core.protocol.task import Task
from intrinsics_core.replies import numbering, readers, sentence_ids
from intrinsics_core.replies.labels import label_probabilities

Typed = Callable[[Spec, Task, Generated], Any]


def _text(value: Any, reply: Generated) -> Any:
    """The reply's one text: itself, or the first text field of an object."""
    texts = [value] if isinstance(value, str) else []
    if isinstance(value, dict):
        texts = [item for item in value.values() if isinstance(item, str)]
    if not texts:
        raise MalformedReply(
            "the reply contains no text", expected="a text field", got=repr(plain(value)), raw=reply.text
        )
    return texts[0]


def _label(value: Any, reply: Generated) -> Any:
    """The reply's one label: a text where it has one, else a whole number or a boolean."""
    found = list(value.values()) if isinstance(value, dict) else [value]
    if any(isinstance(item, str) for item in found):
        return _text(value, reply)
    numbers = [item for item in found if isinstance(item, int)]
    return numbers[0] if numbers else _text(value, reply)


def _rows(value: Any, reply: Generated) -> list[dict[str, Any]]:
    if isinstance(value, list) and all(isinstance(row, dict) for row in value):
        return [unplaced(row) for row in value]
    raise MalformedReply("the reply is not a list of records", expected="[{...}, ...]", got=repr(value), raw=reply.text)


def _at(label: Any, reply: Generated) -> tuple[Generated, int]:
    """The reply and where the label begins in it; without log-probabilities where they could not be found for it."""
    begin = begin_in(reply.text, label)
    return (reply, begin) if begin >= 0 else (replace(reply, logprobs=None), 0)


def rewrite(spec: Spec, task: Task, reply: Generated) -> QueryRewrite:
    query = str(_text(read(spec, reply), reply)).strip()
    if not query:
        raise MalformedReply("the rewritten question is empty", expected="text", got=repr(reply.text), raw=reply.text)
    return readers.rewritten(task, query, reply)


def answerability(spec: Spec, task: Task, reply: Generated) -> Answerability:
    label = _text(read(spec, reply), reply)
    return readers.answerability(str(label), *_at(label, reply))


def relevance(spec: Spec, task: Task, reply: Generated) -> Judgement:
    label = _text(read(spec, reply), reply)
    return readers.judgement(task, str(label), *_at(label, reply))


def uncertainty(spec: Spec, task: Task, reply: Generated) -> Uncertainty:
    """The file's own values of the labels where it has them, else a digit or a percentage."""
    label = _label(read(spec, reply), reply)
    said = label_text(label)
    rule = next((rule for rule in spec.rules if isinstance(rule, Likelihood)), None)
    if rule is None or said not in rule.values:
        return readers.certainty(said, *_at(label, reply))
    seen, begin = _at(label, reply)
    measured = label_probabilities(seen.logprobs, tuple(rule.values), begin)
    expected = None if measured is None else sum(rule.values[name] * p for name, p in measured.items())
    return Uncertainty(certainty=round(rule.values[said], 2), expected=expected)


def hallucination(spec: Spec, task: Task, reply: Generated) -> HallucinationDetection:
    rows = _rows(read(spec, reply), reply)
    numbered = spec.sentence_fields("last_message") or ("r", "i")
    record = fields.of_record(spec)
    verdicts = []
    for row in rows:
        number = next((row[name] for name in numbered if name in row), None)
        label, reason = _verdict(record, row, reply)
        verdicts.append((number, (readers.faithfulness(label, reply), None, reason)))
    numbering.check([number for number, _ in verdicts], range(len(task.response_sentences)), reply)
    return sentence_ids.hallucination(task, verdicts)


def _verdict(record: Mapping[str, fields.Schema], row: Mapping[str, Any], reply: Generated) -> tuple[str, str | None]:
    """(label, reasoning) of a row: by the schema's labels, by the field's name, else by which text is a label."""
    texts = {name: str(value) for name, value in row.items() if isinstance(value, str)}
    name = fields.verdict(record, texts) or _reads_like_a_label(texts, reply)
    return texts[name], next((text for other, text in texts.items() if other != name), None)


def _reads_like_a_label(texts: Mapping[str, str], reply: Generated) -> str:
    """The field whose text is a label.

    Raises:
        MalformedReply: there is none, or several that differ: one of them is a reason, and which is not known.
    """
    known = {name.casefold() for name in readers.FAITHFULNESS}
    labels = {name: said for name, text in texts.items() if (said := text.strip().casefold()) in known}
    if len(set(labels.values())) != 1:
        what = "several labels" if labels else "no known label"
        raise MalformedReply(f"a record has {what}", expected=f"one of {', '.join(readers.FAITHFULNESS)}",
                             got=repr(dict(texts)), raw=reply.text)  # fmt: skip
    return next(iter(labels))


def citations(spec: Spec, task: Task, reply: Generated) -> Citations:
    rows = _rows(read(spec, reply), reply)
    response = (spec.sentence_fields("last_message") or ("r",))[0]
    cited = (spec.sentence_fields("documents") or ("c",))[0]
    links = []
    for row in rows:
        sources = row.get(cited)
        if not isinstance(sources, list):
            raise MalformedReply(f"field {cited!r} is not a list", expected="sentence numbers", got=repr(plain(row)),
                                 raw=reply.text)  # fmt: skip
        links += [(row.get(response), source) for source in sources]
    numbering.check([row.get(response) for row in rows], range(len(task.response_sentences)), reply)
    return sentence_ids.citations(task, links)


ONE_DOCUMENT = frozenset({"context-relevance"})  # whose result is about a document: exactly one is judged at a time

TYPED: Mapping[str, Typed] = {
    "query-rewrite": rewrite,
    "answerability": answerability,
    "context-relevance": relevance,
    "uncertainty": uncertainty,
    "hallucination-detection": hallucination,
    "citations": citations,
}
