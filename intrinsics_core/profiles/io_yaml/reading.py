"""From an adapter's reply to checked JSON, and for known intrinsics to typed results, whatever names an ``io.yaml``
gives to its output.

The reply must be what the file's schema admits, sentence numbers apart: one that does not exist, a negative one
included, costs its own entry and not the reply. Typed results read the reply itself, by the fields that the file's own
``decode_sentences`` rules name, so that offsets come from the same place as for every other profile.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Any

from intrinsics_core.profiles.io_yaml import limits
from intrinsics_core.profiles.io_yaml.located import Decoder, begin_in, label_text, located, plain, unplaced
from intrinsics_core.profiles.io_yaml.rendering import numbered_in
from intrinsics_core.profiles.io_yaml.spec import Spec
from intrinsics_core.profiles.io_yaml.transformations import Work
from intrinsics_core.protocol.errors import MalformedReply
from intrinsics_core.protocol.requests import Generated
from intrinsics_core.protocol.results import AdapterOutput, Citations, HallucinationDetection, QueryRewrite, Uncertainty
from intrinsics_core.protocol.task import Task
from intrinsics_core.replies import json_reply, readers, sentence_ids
from intrinsics_core.replies.json_reply import malformed
from intrinsics_core.replies.labels import label_probabilities

_KINDS: dict[Any, type] = {"object": dict, "array": list}


_DECODER = Decoder()


def output(spec: Spec, task: Task, reply: Generated) -> AdapterOutput:
    """The reply after the file's transformations.

    Raises:
        MalformedReply: it is not what the schema or a transformation expects.
    """
    value = read(spec, reply)
    work = Work(numbered_in(spec, task), reply)
    try:
        for rule in spec.rules:
            value = rule.apply(value, work)
        return AdapterOutput(value=plain(value), dropped=work.dropped)
    except RecursionError:
        raise MalformedReply("the reply is nested too deeply", raw=reply.text) from None


def read(spec: Spec, reply: Generated) -> Any:
    """The reply's JSON, checked against the schema; its strings know their place. Free text where there is no schema.

    Documented repairs: a label without the quotes of JSON is taken for a string where a string is due; of "label" and
    "score", each stands for the other where the schema knows one alone (a published instruction asks for the other).

    Raises:
        MalformedReply: it is no such JSON.
    """
    expected = f"JSON as in the response_format of {spec.source}" if spec.schema is not None else "text or JSON"
    try:
        value = _parsed(spec.schema, reply, expected)
        if spec.schema is not None:
            value = _renamed(spec.schema, value)
            _check(spec, value, expected, reply)
    except RecursionError:
        raise MalformedReply("the reply is nested too deeply", expected=expected, raw=reply.text) from None
    return value


def _parsed(schema: Mapping[str, Any] | None, reply: Generated, expected: str) -> Any:
    kind = None if schema is None else schema.get("type")
    if isinstance(kind, str) and kind in _KINDS:
        return readers.parsed(reply, _KINDS[kind], expected, _DECODER)
    text = reply.text.strip()
    if not text:
        raise malformed("the reply is empty", reply.text, expected)
    begin = reply.text.find(text)
    try:
        value, end = _DECODER.raw_decode(reply.text, begin)
    except ValueError:
        value, end = None, 0
    if not end or reply.text[end:].strip():
        value = located(text, begin)
    return json_reply.writable(value, reply.text, expected)


_EITHER = {"label": "score", "score": "label"}


def _renamed(schema: Mapping[str, Any], value: Any) -> Any:
    known = schema.get("properties")
    if not isinstance(value, dict) or not isinstance(known, dict):
        return value
    return {
        _EITHER[key]
        if key in _EITHER and key not in known and _EITHER[key] in known.keys() - value.keys()
        else key: item
        for key, item in value.items()
    }


def _check(spec: Spec, value: Any, expected: str, reply: Generated) -> None:
    try:
        error = limits.first_error(spec.validator, plain(value))
    except limits.BeyondLimits as beyond:
        raise MalformedReply(f"the reply cannot be checked: {beyond}", expected=expected, raw=reply.text) from None
    if error is not None:
        raise malformed(
            f"the reply does not fit the schema at {error.json_path}: {error.message[:300]}", reply.text, expected
        )


# --- fields of a reply ------------------------------------------------------------------------------------------------


Schema = Mapping[str, Any]

_VERDICT = ("f", "faithfulness", "label")  # as published files and our own name a verdict


def resolved(schema: Any, root: Schema) -> Schema:
    """A part of a schema, its reference followed; references of references are rare and bounded."""
    for _ in range(8):
        pointer = schema.get("$ref") if isinstance(schema, Mapping) else None
        if not isinstance(pointer, str):
            break
        schema = root
        for step in pointer.removeprefix("#").split("/")[1:]:
            schema = schema.get(step, {}) if isinstance(schema, Mapping) else {}
    return schema if isinstance(schema, Mapping) else {}


def of_object(schema: Schema, root: Schema) -> dict[str, Schema]:
    """The fields of an object, in the order in which constrained decoding writes them."""
    properties = schema.get("properties")
    if not isinstance(properties, Mapping):
        return {}
    return {str(name): resolved(part, root) for name, part in properties.items()}


def of_record(spec: Spec) -> dict[str, Schema]:
    """The fields of one record of a reply."""
    root = spec.schema or {}
    return of_object(resolved(resolved(root, root).get("items"), root), root)


def admitted(schema: Schema, text: str) -> str | None:
    """The text in the spelling of a field's own labels, None where the field is for something else."""
    if "enum" in schema:
        return next((e for e in schema["enum"] if isinstance(e, str) and e.casefold() == text.casefold()), None)
    return text if schema.get("type", "string") == "string" else None


def verdict_field(record: Mapping[str, Schema], texts: Collection[str]) -> str | None:
    """The field of a sentence's label among its ``texts``, None where neither values nor name tell.

    It has the known labels as its values, else a usual name.
    """
    known = [name for name in texts if "enum" in record.get(name, {}) and admitted(record[name], "faithful")]
    return next(iter((*known, *(name for name in _VERDICT if name in texts))), None)


# --- typed results ----------------------------------------------------------------------------------------------------


Typed = Callable[[Spec, Task, Generated], Any]


def _text(value: Any, reply: Generated) -> Any:
    """The reply's one text: itself, or the first text field of an object."""
    texts = [value] if isinstance(value, str) else []
    if isinstance(value, dict):
        texts = [item for item in value.values() if isinstance(item, str)]
    if not texts:
        raise malformed("the reply contains no text", reply.text, "a text field", plain(value))
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
    raise malformed("the reply is not a list of records", reply.text, "[{...}, ...]", value)


def _at(label: Any, reply: Generated) -> tuple[Generated, int]:
    """The reply and where the label begins in it; without log-probabilities where they could not be found for it."""
    begin = begin_in(reply.text, label)
    return (reply, begin) if begin >= 0 else (replace(reply, logprobs=None), 0)


def rewrite(spec: Spec, task: Task, reply: Generated) -> QueryRewrite:
    query = str(_text(read(spec, reply), reply)).strip()
    if not query:
        raise malformed("the rewritten question is empty", reply.text, "text")
    return readers.rewritten(task, query, reply)


def _labelled(spec: Spec, reply: Generated) -> tuple[str, Generated, int]:
    label = _text(read(spec, reply), reply)
    return str(label), *_at(label, reply)


def uncertainty(spec: Spec, task: Task, reply: Generated) -> Uncertainty:
    """The file's own values of the labels where it has them, else a digit or a percentage."""
    label = _label(read(spec, reply), reply)
    said = label_text(label)
    rule = spec.likelihood
    if rule is None or said not in rule.values:
        return readers.certainty(said, *_at(label, reply))
    seen, begin = _at(label, reply)
    measured = label_probabilities(seen.logprobs, tuple(rule.values), begin)
    expected = None if measured is None else sum(rule.values[name] * p for name, p in measured.items())
    return Uncertainty(certainty=round(rule.values[said], 2), expected=expected)


def hallucination(spec: Spec, task: Task, reply: Generated) -> HallucinationDetection:
    rows = _rows(read(spec, reply), reply)
    numbered = spec.sentence_fields("last_message") or ("r", "i")
    record = of_record(spec)
    verdicts = []
    for row in rows:
        number = next((row[name] for name in numbered if name in row), None)
        label, reason = _verdict(record, row, reply)
        verdicts.append((number, (readers.faithfulness(label, reply), None, reason)))
    sentence_ids.check_numbers([number for number, _ in verdicts], range(len(task.response_sentences)), reply)
    return sentence_ids.hallucination(task, verdicts)


def _verdict(record: Mapping[str, Schema], row: Mapping[str, Any], reply: Generated) -> tuple[str, str | None]:
    """(label, reasoning) of a row: by the schema's labels, by the field's name, else by which text is a label."""
    texts = {name: str(value) for name, value in row.items() if isinstance(value, str)}
    name = verdict_field(record, texts) or _reads_like_a_label(texts, reply)
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
        raise malformed(f"a record has {what}", reply.text, f"one of {', '.join(readers.FAITHFULNESS)}", dict(texts))
    return next(iter(labels))


def citations(spec: Spec, task: Task, reply: Generated) -> Citations:
    rows = _rows(read(spec, reply), reply)
    response = (spec.sentence_fields("last_message") or ("r",))[0]
    cited = (spec.sentence_fields("documents") or ("c",))[0]
    links = []
    for row in rows:
        sources = row.get(cited)
        if not isinstance(sources, list):
            raise malformed(f"field {cited!r} is not a list", reply.text, "sentence numbers", plain(row))
        links += [(row.get(response), source) for source in sources]
    sentence_ids.check_numbers([row.get(response) for row in rows], range(len(task.response_sentences)), reply)
    return sentence_ids.citations(task, links)


ONE_DOCUMENT = frozenset({"context-relevance"})  # whose result is about a document: exactly one is judged at a time

TYPED: Mapping[str, Typed] = {
    "query-rewrite": rewrite,
    "answerability": lambda spec, task, reply: readers.answerability(*_labelled(spec, reply)),
    "context-relevance": lambda spec, task, reply: readers.judgement(task, *_labelled(spec, reply)),
    "uncertainty": uncertainty,
    "hallucination-detection": hallucination,
    "citations": citations,
}
