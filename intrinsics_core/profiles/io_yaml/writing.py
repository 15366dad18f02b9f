"""The reply of an adapter that gives a result: the inverse of `typed`, in the shape of the file's own schema.

Fields and their order are the schema's, names of sentence numbers those of the ``decode_sentences`` rules. Beyond the
rules of :mod:`intrinsics_core.replies.writers`: a file whose schema wants more than the result knows is
:class:`~intrinsics_core.protocol.errors.UnsupportedIntrinsic`; an output of the file's own making is written where the
file has no transformations, which is where the output is the reply.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from intrinsics_core.profiles.io_yaml.located import plain
from intrinsics_core.profiles.io_yaml.reading import read
from intrinsics_core.profiles.io_yaml.spec import Spec
from intrinsics_core.profiles.io_yaml.transformations import Likelihood
from intrinsics_core.protocol.errors import InvalidInput, MalformedReply, UnsupportedIntrinsic
from intrinsics_core.protocol.requests import Generated
from intrinsics_core.protocol.results import (
    AdapterOutput,
    Answerability,
    Citations,
    HallucinationDetection,
    Judgement,
    QueryRewrite,
    Uncertainty,
)
from intrinsics_core.protocol.task import Task
from intrinsics_core.replies import readers, writers

Write = Callable[[Task, Any], str]
Schema = Mapping[str, Any]


def writer(spec: Spec, intrinsic: str | None) -> Write | None:
    """What writes the typed results of a known intrinsic, or else the file's own output; None where nothing can.

    Args:
        intrinsic: None for the file's own output.
    """
    made = WRITERS.get(intrinsic or "")
    if made is None:
        return None if spec.rules else lambda task, value: _output(spec, value)
    return lambda task, value: _readable(spec, made(spec, task, value))


def _readable(spec: Spec, value: Any) -> str:
    """A value as the reply's text, if that is a reply by the file's own schema."""
    text = _spelled(spec, value)
    try:
        read(spec, Generated(text))
    except MalformedReply as error:
        raise UnsupportedIntrinsic(f"{spec.source} needs a reply that the result does not contain: {error.message}",
                                   got=text) from None  # fmt: skip
    return text


def _spelled(spec: Spec, value: Any) -> str:
    """As JSON, but a text without a schema as it is, if it is then read as a text."""
    if spec.schema is None and isinstance(value, str):
        try:
            if plain(read(spec, Generated(value))) == value:
                return value
        except MalformedReply:
            pass  # blank, which JSON can spell
    return writers.as_json(value)


def _output(spec: Spec, value: Any) -> str:
    writers.given(value, AdapterOutput)
    text = _spelled(spec, value.value)
    try:
        read(spec, Generated(text))
    except MalformedReply as error:
        raise InvalidInput(
            f"value is not a reply that fits {spec.source}: {error.message}", expected="JSON as in its schema", got=text
        ) from None
    return text


# --- where in a reply -------------------------------------------------------------------------------------------------


def _resolved(schema: Any, root: Schema) -> Schema:
    """A part of a schema, its reference followed; references of references are rare and bounded."""
    for _ in range(8):
        pointer = schema.get("$ref") if isinstance(schema, Mapping) else None
        if not isinstance(pointer, str):
            break
        schema = root
        for step in pointer.removeprefix("#").split("/")[1:]:
            schema = schema.get(step, {}) if isinstance(schema, Mapping) else {}
    return schema if isinstance(schema, Mapping) else {}


def _fields(schema: Schema, root: Schema) -> dict[str, Schema]:
    """The fields of an object, in the order in which constrained decoding writes them."""
    properties = schema.get("properties")
    if not isinstance(properties, Mapping):
        return {}
    return {str(name): _resolved(part, root) for name, part in properties.items()}


def _admitted(schema: Schema, text: str) -> str | None:
    """The text in the spelling of a field's own labels, None where the field is for something else."""
    if "enum" in schema:
        return next((e for e in schema["enum"] if isinstance(e, str) and e.casefold() == text.casefold()), None)
    return text if schema.get("type", "string") == "string" else None


def _placed(spec: Spec, *texts: str) -> Any:
    """The reply that says a text: itself, or in the first field that takes it. ``texts`` are spellings of one thing."""
    root = spec.schema
    if root is None:
        return texts[0]
    schema = _resolved(root, root)
    for name, part in _fields(schema, root).items():
        for text in texts:
            if (found := _admitted(part, text)) is not None:
                return {name: found}
    return next((found for text in texts if (found := _admitted(schema, text)) is not None), texts[0])


def _row(spec: Spec) -> dict[str, Schema]:
    """The fields of one record of a reply."""
    root = spec.schema or {}
    return _fields(_resolved(_resolved(root, root).get("items"), root), root)


def _numbered(spec: Spec, location: str, fields: Mapping[str, Schema], usual: tuple[str, ...]) -> str:
    """The field of a record that holds sentence numbers of a location."""
    names = spec.sentence_fields(location) or usual
    return next((name for name in names if name in fields), names[0])


def _ordered(fields: Mapping[str, Schema], row: dict[str, Any]) -> dict[str, Any]:
    return {name: row[name] for name in (*fields, *row) if name in row}


# --- results ----------------------------------------------------------------------------------------------------------


def rewrite(spec: Spec, task: Task, value: QueryRewrite) -> Any:
    return _placed(spec, writers.query(task, value))


def answerability(spec: Spec, task: Task, value: Answerability) -> Any:
    return _placed(spec, writers.answerability(value))


def relevance(spec: Spec, task: Task, value: Judgement) -> Any:
    return _placed(spec, writers.judgement(task, value))


def uncertainty(spec: Spec, task: Task, value: Uncertainty) -> Any:
    """By the file's own values of its labels where it has them, else a digit or the percentage it stands for."""
    rule = next((rule for rule in spec.rules if isinstance(rule, Likelihood)), None)
    if rule is not None:
        return _placed(spec, writers.certainty(value, rule.values))
    return _placed(spec, writers.certainty(value), writers.certainty(value, writers.PERCENTAGES))


def hallucination(spec: Spec, task: Task, value: HallucinationDetection) -> Any:
    """A record per sentence. A reason goes into the text field that is not for labels, if there is one.

    Raises:
        InvalidInput: a reason that stands before its label reads like one.
    """
    fields = _row(spec)
    number = _numbered(spec, "last_message", fields, ("r", "i"))
    label, reason = _label_and_reason(fields)
    rows = []
    for i, verdict in enumerate(writers.verdicts(task, value)):
        why = writers.explanation(verdict)
        row: dict[str, Any] = {number: i, label: _admitted(fields.get(label, {}), verdict.label) or verdict.label}
        if reason is not None:
            row[reason] = why
        row = _ordered(fields, row)
        texts = [text for text in row.values() if isinstance(text, str)]
        if texts[0] is why and why.strip().casefold() in _LABELS:
            raise InvalidInput(f"sentences[{i}].explanation reads like a label and comes before the label",
                               expected="a reason in words", got=repr(why))  # fmt: skip
        rows.append(row)
    return rows


_LABELS = frozenset(name.casefold() for name in readers.FAITHFULNESS)


def _label_and_reason(fields: Mapping[str, Schema]) -> tuple[str, str | None]:
    """(label, reason): the label has the known labels as its values, else a usual name."""
    texts = [name for name, part in fields.items() if part.get("type", "string") == "string"]
    known = [name for name in texts if "enum" in fields[name] and _admitted(fields[name], "faithful") is not None]
    usual = [name for name in ("f", "faithfulness", "label") if name in texts]
    label = next(iter((*known, *usual, *texts, "f")))
    rest: Sequence[str] = [name for name in texts if name != label and "enum" not in fields[name]]
    return label, next(iter(rest), None if fields else "e")


def citations(spec: Spec, task: Task, value: Citations) -> Any:
    """A record per response sentence, with an empty list where it rests on nothing."""
    fields = _row(spec)
    response = _numbered(spec, "last_message", fields, ("r",))
    cited = _numbered(spec, "documents", fields, ("c",))
    return [_ordered(fields, {response: i, cited: numbers}) for i, numbers in enumerate(writers.cited(task, value))]


WRITERS: Mapping[str, Callable[[Spec, Task, Any], Any]] = {
    "query-rewrite": rewrite,
    "answerability": answerability,
    "context-relevance": relevance,
    "uncertainty": uncertainty,
    "hallucination-detection": hallucination,
    "citations": citations,
}
