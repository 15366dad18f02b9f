"""The reply of an adapter that gives a result: the inverse of `reading`, in the shape of the file's own schema.

Fields and their order are the schema's, names of sentence numbers those of the ``decode_sentences`` rules. Beyond the
rules of :mod:`intrinsics_core.replies.writers`: a file whose schema wants more than the result knows is
:class:`~intrinsics_core.protocol.errors.UnsupportedIntrinsic`; an output of the file's own making is written where the
file has no transformations, which is where the output is the reply.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from intrinsics_core.profiles.io_yaml.located import plain
from intrinsics_core.profiles.io_yaml.reading import (
    Schema,
    admitted,
    of_object,
    of_record,
    read,
    resolved,
    verdict_field,
)
from intrinsics_core.profiles.io_yaml.spec import Spec
from intrinsics_core.protocol.errors import IntrinsicsError, InvalidInput, MalformedReply, UnsupportedIntrinsic
from intrinsics_core.protocol.requests import Generated
from intrinsics_core.protocol.results import AdapterOutput, Citations, HallucinationDetection, Uncertainty
from intrinsics_core.protocol.task import Task
from intrinsics_core.replies import readers, writers

Write = Callable[[Task, Any], str]


def writer(spec: Spec, intrinsic: str | None) -> Write | None:
    """What writes the typed results of a known intrinsic, or else the file's own output; None where nothing can.

    Args:
        intrinsic: None for the file's own output.
    """
    made = WRITERS.get(intrinsic or "")
    if made is not None:
        wrong = UnsupportedIntrinsic(f"{spec.source} needs a reply that the result does not contain")
        return lambda task, value: _fitting(spec, made(spec, task, value), wrong)
    if spec.rules:
        return None
    unfit = InvalidInput(f"value is not a reply that fits {spec.source}", expected="JSON as in its schema")
    return lambda task, value: _fitting(spec, writers.given(value, AdapterOutput).value, unfit)


def _fitting(spec: Spec, value: Any, otherwise: IntrinsicsError) -> str:
    """A value as the reply's text, if that is a reply by the file's own schema; else the error, with what is wrong."""
    text = _spelled(spec, value)
    try:
        read(spec, Generated(text))
    except MalformedReply as error:
        message = f"{otherwise.message}: {error.message}"
        raise type(otherwise)(message, expected=otherwise.expected, got=text) from None
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


# --- where in a reply -------------------------------------------------------------------------------------------------


def _placed(spec: Spec, *texts: str) -> Any:
    """The reply that says a text: itself, or in the first field that takes it. ``texts`` are spellings of one thing."""
    root = spec.schema
    if root is None:
        return texts[0]
    schema = resolved(root, root)
    for name, part in of_object(schema, root).items():
        for text in texts:
            if (found := admitted(part, text)) is not None:
                return {name: found}
    return next((found for text in texts if (found := admitted(schema, text)) is not None), texts[0])


def _numbered(spec: Spec, location: str, record: Mapping[str, Schema], usual: tuple[str, ...]) -> str:
    """The field of a record that holds sentence numbers of a location."""
    names = spec.sentence_fields(location) or usual
    return next((name for name in names if name in record), names[0])


def _ordered(record: Mapping[str, Schema], row: dict[str, Any]) -> dict[str, Any]:
    return {name: row[name] for name in (*record, *row) if name in row}


# --- results ----------------------------------------------------------------------------------------------------------


def uncertainty(spec: Spec, task: Task, value: Uncertainty) -> Any:
    """By the file's own values of its labels where it has them, else a digit or the percentage it stands for."""
    if (rule := spec.likelihood) is not None:
        return _placed(spec, writers.certainty(value, rule.values))
    return _placed(spec, writers.certainty(value), writers.certainty(value, writers.PERCENTAGES))


def hallucination(spec: Spec, task: Task, value: HallucinationDetection) -> Any:
    """A record per sentence. A reason goes into the text field that is not for labels, if there is one.

    Raises:
        InvalidInput: a reason reads like another label, and no name or schema tells which of the two fields is which.
    """
    record = of_record(spec)
    number = _numbered(spec, "last_message", record, ("r", "i"))
    label, reason = _label_and_reason(record)
    rows = []
    for i, verdict in enumerate(writers.verdicts(task, value)):
        why = writers.explanation(verdict)
        row: dict[str, Any] = {number: i, label: admitted(record.get(label, {}), verdict.label) or verdict.label}
        if reason is not None:
            row[reason] = why
        others = _LABELS - {verdict.label.casefold()}
        if reason and why.strip().casefold() in others and not verdict_field(record, row):
            raise InvalidInput(f"sentences[{i}].explanation reads like another label",
                               expected="a reason in words", got=repr(why))  # fmt: skip
        rows.append(_ordered(record, row))
    return rows


_LABELS = frozenset(name.casefold() for name in readers.FAITHFULNESS)


def _label_and_reason(record: Mapping[str, Schema]) -> tuple[str, str | None]:
    """(label, reason): the label has the known labels as its values, else a usual name."""
    texts = [name for name, part in record.items() if part.get("type", "string") == "string"]
    label = verdict_field(record, texts) or next(iter((*texts, "f")))
    rest: Sequence[str] = [name for name in texts if name != label and "enum" not in record[name]]
    return label, next(iter(rest), None if record else "e")


def citations(spec: Spec, task: Task, value: Citations) -> Any:
    """A record per response sentence, with an empty list where it rests on nothing."""
    record = of_record(spec)
    response = _numbered(spec, "last_message", record, ("r",))
    cited = _numbered(spec, "documents", record, ("c",))
    return [_ordered(record, {response: i, cited: numbers}) for i, numbers in enumerate(writers.cited(task, value))]


WRITERS: Mapping[str, Callable[[Spec, Task, Any], Any]] = {
    "query-rewrite": lambda spec, task, value: _placed(spec, writers.query(task, value)),
    "answerability": lambda spec, task, value: _placed(spec, writers.answerability(value)),
    "context-relevance": lambda spec, task, value: _placed(spec, writers.judgement(task, value)),
    "uncertainty": uncertainty,
    "hallucination-detection": hallucination,
    "citations": citations,
}
