"""From an adapter's reply to checked JSON, for known intrinsics to typed results, and from these back to a reply.

A reply must be what the file's schema admits. A sentence number that does not exist costs its own entry and not the
reply. Typed results are read from the reply itself, and written in the shape of the schema. Their sentence numbers
stand in the fields of the file's ``decode_sentences`` rules, so that offsets come from the same place as for every
other profile. An output of the file's own making is written where the file has no transformations.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

from intrinsics_core.profiles.io_yaml import schemas
from intrinsics_core.profiles.io_yaml.places import Decoder, Location, begin_in, label_text, located, plain
from intrinsics_core.profiles.io_yaml.rendering import numbered_in
from intrinsics_core.profiles.io_yaml.schemas import Schema, admitted
from intrinsics_core.profiles.io_yaml.spec import Spec
from intrinsics_core.profiles.io_yaml.transformations import Work
from intrinsics_core.protocol.errors import InvalidInput, MalformedReply, UnsupportedIntrinsic
from intrinsics_core.protocol.requests import Generated
from intrinsics_core.protocol.results import AdapterOutput, Citations, HallucinationDetection, QueryRewrite, Uncertainty
from intrinsics_core.protocol.task import Task
from intrinsics_core.replies import json_reply, readers, sentence_ids, writers
from intrinsics_core.replies.json_reply import malformed

_DECODER = Decoder()
_KINDS: Mapping[str, type] = {"object": dict, "array": list}
_EITHER = {"label": "score", "score": "label"}
_VERDICT = ("f", "faithfulness", "label")  # as published files and our own name a verdict
_LABELS = frozenset(name.casefold() for name in readers.FAITHFULNESS)


# --- a reply by its schema --------------------------------------------------------------------------------------------


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
        value = _parsed(spec.schema or {}, reply, expected)
        if spec.schema is None:
            return value
        value = _renamed(spec.schema, value)
        error = schemas.first_error(spec.validator, plain(value))
    except RecursionError:
        raise MalformedReply("the reply is nested too deeply", expected=expected, raw=reply.text) from None
    except schemas.BeyondLimits as beyond:
        raise MalformedReply(f"the reply cannot be checked: {beyond}", expected=expected, raw=reply.text) from None
    if error is not None:
        what = f"the reply does not fit the schema at {error.json_path}: {error.message[:300]}"
        raise malformed(what, reply.text, expected)
    return value


def _parsed(schema: Schema, reply: Generated, expected: str) -> Any:
    kind = schema.get("type")
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


def _renamed(schema: Schema, value: Any) -> Any:
    known = schema.get("properties")
    if not isinstance(value, dict) or not isinstance(known, dict):
        return value
    lacking = {
        key: other for key, other in _EITHER.items() if key not in known and other in known.keys() - value.keys()
    }
    return {lacking.get(key, key): item for key, item in value.items()}


# --- one text ---------------------------------------------------------------------------------------------------------


def _label(spec: Spec, reply: Generated, kinds: type | tuple[type, ...] = str) -> Any:
    """The reply's one text: itself, or the first text field of an object. Without one, the first field of ``kinds``."""
    value = read(spec, reply)
    found = list(value.values()) if isinstance(value, dict) else [value]
    for kind in (str, kinds):
        if (text := next((item for item in found if isinstance(item, kind)), None)) is not None:
            return text
    raise malformed("the reply contains no text", reply.text, "a text field", plain(value))


def _placed(label: Any, reply: Generated) -> tuple[str, Generated, int]:
    """A label, the reply and where the label begins in it; without log-probabilities where that is not known."""
    begin = begin_in(reply.text, label)
    return label_text(label), reply if begin >= 0 else replace(reply, logprobs=None), max(begin, 0)


def _said(spec: Spec, *texts: str) -> Any:
    """The reply that says a text: itself, or in the first field that takes it. ``texts`` are spellings of one thing."""
    if spec.schema is None:
        return texts[0]
    for name, part in schemas.fields(spec.schema, spec.schema).items():
        for text in texts:
            if (found := admitted(part, text)) is not None:
                return {name: found}
    whole = schemas.resolved(spec.schema, spec.schema)
    return next((found for text in texts if (found := admitted(whole, text)) is not None), texts[0])


def _rewrite(spec: Spec, task: Task, reply: Generated) -> QueryRewrite:
    query = str(_label(spec, reply)).strip()
    if not query:
        raise malformed("the rewritten question is empty", reply.text, "text")
    return readers.rewritten(task, query, reply)


def _uncertainty(spec: Spec, task: Task, reply: Generated) -> Uncertainty:
    """By the file's own values of its labels where it has them, else a digit or a percentage."""
    label, rule = _label(spec, reply, int), spec.likelihood
    if rule is None or label_text(label) not in rule.values:
        return readers.certainty(*_placed(label, reply))
    return Uncertainty(certainty=round(rule.values[label_text(label)], 2), expected=rule.mean(label, reply))


def _say_uncertainty(spec: Spec, task: Task, value: Uncertainty) -> Any:
    scales = [spec.likelihood.values] if spec.likelihood else [readers.CERTAINTIES, readers.SHARES]
    return _said(spec, *(writers.certainty(value, scale) for scale in scales))


# --- records of sentences ---------------------------------------------------------------------------------------------


def _rows(spec: Spec, reply: Generated) -> list[dict[str, Any]]:
    value, expected = read(spec, reply), "[{...}, ...]"
    if not isinstance(value, list):
        raise malformed("the reply is not a list of records", reply.text, expected, plain(value))
    return readers.objects(value, reply, expected)


def _number_field(spec: Spec, location: Location, record: Mapping[str, Schema], usual: tuple[str, ...]) -> str:
    """The field of a record that holds sentence numbers of a location."""
    names = spec.sentence_fields(location) or usual
    return next((name for name in names if name in record), names[0])


def _ordered(record: Mapping[str, Schema], row: dict[str, Any]) -> dict[str, Any]:
    return {name: row[name] for name in (*record, *row) if name in row}


def _verdict_field(record: Mapping[str, Schema], texts: Collection[str]) -> str | None:
    """The field of a sentence's label among its ``texts``, None where neither values nor name tell.

    It has the known labels as its values, else a usual name.
    """
    known = [name for name in texts if "enum" in record.get(name, {}) and admitted(record[name], "faithful")]
    return next(iter((*known, *(name for name in _VERDICT if name in texts))), None)


def _hallucination(spec: Spec, task: Task, reply: Generated) -> HallucinationDetection:
    """The label of a row is told by the schema's labels, by the field's name, else by which text is a label."""
    record, numbered = schemas.record_fields(spec.schema), spec.sentence_fields("last_message") or ("r", "i")
    found: list[tuple[Any, sentence_ids.Verdict]] = []
    for row in _rows(spec, reply):
        number = next((plain(row[name]) for name in numbered if name in row), None)
        texts = {name: value for name, value in row.items() if isinstance(value, str)}
        label = _verdict_field(record, texts) or _reads_like_a_label(texts, reply)
        reason, (_, at, begin) = next((name for name in texts if name != label), None), _placed(texts[label], reply)
        found.append((number, readers.verdict(plain(texts), at, label, reason, begin)))
    sentence_ids.check_numbers([number for number, _ in found], range(len(task.response_sentences)), reply)
    return sentence_ids.hallucination(task, found)


def _reads_like_a_label(texts: Mapping[str, str], reply: Generated) -> str:
    """The field whose text is a label.

    Raises:
        MalformedReply: there is none, or several that differ: one of them is a reason, and which is not known.
    """
    labels = {name: said for name, text in texts.items() if (said := text.strip().casefold()) in _LABELS}
    if len(set(labels.values())) != 1:
        what = "several labels" if labels else "no known label"
        raise malformed(f"a record has {what}", reply.text, f"one of {', '.join(readers.FAITHFULNESS)}", dict(texts))
    return next(iter(labels))


def _say_hallucination(spec: Spec, task: Task, value: HallucinationDetection) -> Any:
    """A record per sentence. A reason goes into the text field that is not for labels, if there is one.

    Raises:
        InvalidInput: a reason reads like another label, and no name or schema tells which of the two fields is which.
    """
    record = schemas.record_fields(spec.schema)
    number = _number_field(spec, "last_message", record, ("r", "i"))
    fields = [name for name, part in record.items() if part.get("type", "string") == "string"]
    label = _verdict_field(record, fields) or next(iter((*fields, "f")))
    others = [name for name in fields if name != label and "enum" not in record[name]]
    reason = next(iter(others), None if record else "e")
    rows = []
    for i, verdict in enumerate(writers.verdicts(task, value)):
        why = verdict.explanation or ""
        row: dict[str, Any] = {number: i, label: admitted(record.get(label, {}), verdict.label) or verdict.label}
        if reason is not None:
            row[reason] = why
        like_another = why.strip().casefold() in _LABELS - {verdict.label.casefold()}
        if reason and like_another and not _verdict_field(record, row):
            what = f"sentences[{i}].explanation reads like another label"
            raise InvalidInput(what, expected="a reason in words", got=repr(why))
        rows.append(_ordered(record, row))
    return rows


def _citations(spec: Spec, task: Task, reply: Generated) -> Citations:
    response = (spec.sentence_fields("last_message") or ("r",))[0]
    cited = (spec.sentence_fields("documents") or ("c",))[0]
    rows = plain(_rows(spec, reply))
    sentence_ids.check_numbers(readers.row_numbers(rows, response), range(len(task.response_sentences)), reply)
    return sentence_ids.citations(task, readers.links(rows, reply, response, cited))


def _say_citations(spec: Spec, task: Task, value: Citations) -> Any:
    """A record per response sentence, with an empty list where it rests on nothing."""
    record = schemas.record_fields(spec.schema)
    response = _number_field(spec, "last_message", record, ("r",))
    cited = _number_field(spec, "documents", record, ("c",))
    return [_ordered(record, {response: i, cited: numbers}) for i, numbers in enumerate(writers.cited(task, value))]


# --- all of them ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Kind:
    """How a result is read from a reply, and said as the JSON of one."""

    read: Callable[[Spec, Task, Generated], Any]
    say: Callable[[Spec, Task, Any], Any]
    one_document: bool = False  # the result is about a document: exactly one is judged at a time

    def write(self, spec: Spec, task: Task, value: Any) -> str:
        """The reply that says a result.

        Raises:
            UnsupportedIntrinsic: the file's schema wants what the result does not contain.
            InvalidInput: the reply cannot say this, or an output of the file's own making does not fit its schema.
        """
        text = _spelled(spec, self.say(spec, task, value))
        try:
            read(spec, Generated(text))
        except MalformedReply as error:
            if self is OUTPUT:
                raise InvalidInput(f"value is not a reply that fits {spec.source}: {error.message}",
                                   expected="JSON as in its schema", got=text) from None  # fmt: skip
            what = f"{spec.source} needs a reply that the result does not contain: {error.message}"
            raise UnsupportedIntrinsic(what, got=text) from None
        return text


OUTPUT = Kind(output, lambda spec, task, value: writers.given(value, AdapterOutput).value)
KNOWN: Mapping[str, Kind] = {
    "query-rewrite": Kind(_rewrite, lambda spec, task, value: _said(spec, writers.query(task, value))),
    "answerability": Kind(
        lambda spec, task, reply: readers.answerability(*_placed(_label(spec, reply), reply)),
        lambda spec, task, value: _said(spec, writers.answerability(value)),
    ),
    "context-relevance": Kind(
        lambda spec, task, reply: readers.judgement(task, *_placed(_label(spec, reply), reply)),
        lambda spec, task, value: _said(spec, writers.judgement(task, value)),
        one_document=True,
    ),
    "uncertainty": Kind(_uncertainty, _say_uncertainty),
    "hallucination-detection": Kind(_hallucination, _say_hallucination),
    "citations": Kind(_citations, _say_citations),
}


def _spelled(spec: Spec, value: Any) -> str:
    """As JSON, but a text without a schema as it is, if it is then read as a text."""
    if spec.schema is None and isinstance(value, str):
        try:
            if plain(read(spec, Generated(value))) == value:
                return value
        except MalformedReply:
            pass  # blank, which JSON can spell
    return writers.as_json(value)
