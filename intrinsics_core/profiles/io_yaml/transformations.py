"""The transformations of an ``io.yaml``: from the adapter's reply to the JSON that is returned.

Each rule is a frozen model with ``apply(value, work)``, which never changes what it is given. Where a reply names a
sentence that does not exist, its record is dropped and counted. Spans are offsets in the caller's own texts. Adjacent
spans are merged over the whitespace between them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, BeforeValidator, Field, StrictInt, StrictStr, model_validator

from intrinsics_core.profiles.io_yaml.places import Flag, Location, Numbering, Offset, begin_in, label_text, plain
from intrinsics_core.profiles.io_yaml.yaml_loader import Names, Number, Part, told, wrong
from intrinsics_core.protocol.errors import MalformedReply
from intrinsics_core.protocol.requests import Generated
from intrinsics_core.replies.labels import label_probabilities

_DROP: Any = object()
_MOST_RECORDS = 20_000  # that one reply may become: explode after explode multiplies


@dataclass
class Work:
    """What rules look things up in; ``dropped`` counts the entries they left out."""

    numbering: Numbering
    reply: Generated
    dropped: int = 0

    def malformed(self, message: str, got: Any) -> MalformedReply:
        return MalformedReply(message, got=repr(got)[:500], raw=self.reply.text)


def changed(value: Any, path: Sequence[str | int | None], change: Callable[[Any], Any]) -> Any:
    """A copy with ``change`` applied wherever the path leads; None in a path stands for all keys or indices."""
    if not path:
        return change(value)
    head, rest = path[0], path[1:]
    if isinstance(value, dict):
        new = {k: changed(v, rest, change) if head is None or k == head else v for k, v in value.items()}
        return {k: v for k, v in new.items() if v is not _DROP}
    if isinstance(value, list):
        rows = [changed(v, rest, change) if head is None or i == head else v for i, v in enumerate(value)]
        return [v for v in rows if v is not _DROP]
    return value


_Path = Annotated[
    tuple[StrictStr | StrictInt | None, ...], told("is not a path", "a list of field names, indices or null")
]
_Locations = Annotated[
    tuple[Location, ...],
    Field(min_length=1),
    BeforeValidator(lambda value: [value] if isinstance(value, str) else value),
    told("is an unknown location", f"one or more of {', '.join(get_args(Location))}"),
]
_NewNames = Annotated[
    dict[StrictStr, StrictStr] | Names,
    AfterValidator(lambda value: value if isinstance(value, dict) else dict(zip(value, value, strict=True))),
    told("is not a list of names", "field names, or old: new"),
]


def _by_label(value: Any) -> Any:
    """Labels may be spelled as any value of JSON that a reply can hold."""
    return {label_text(key): item for key, item in value.items()} if isinstance(value, Mapping) else value


class _Placed(Part):
    """A rule, and where in the reply it works."""

    input_path: _Path = ()

    def apply(self, value: Any, work: Work) -> Any:
        """The value after this rule.

        Raises:
            MalformedReply: the reply does not have the shape that the rule works on.
        """
        return changed(value, self.input_path, lambda found: self.at(found, work))

    def at(self, found: Any, work: Work) -> Any:
        """What stands for a value that the path leads to."""
        raise NotImplementedError

    def records(self, value: Any, work: Work) -> list[dict[str, Any]]:
        if isinstance(value, list) and all(isinstance(row, dict) for row in value):
            return value
        raise work.malformed(f"{getattr(self, 'type', 'a rule')} needs a list of records", value)


class Likelihood(_Placed):
    """A label becomes its value: the mean over all labels where log-probabilities are given, else the label's own."""

    type: Literal["likelihood"]
    values: Annotated[dict[str, Number], BeforeValidator(_by_label), Field(alias="categories_to_values", min_length=1)]

    def at(self, found: Any, work: Work) -> float:
        key = label_text(found) if isinstance(found, str | int | bool) else None
        if key is None or key not in self.values:
            raise work.malformed(f"the label is not one of {', '.join(self.values)}", found)
        mean = self.mean(found, work.reply)
        return float(self.values[key]) if mean is None else mean

    def mean(self, label: Any, reply: Generated) -> float | None:
        """The mean of all labels' values where this one stands, None where log-probabilities do not tell."""
        begin = begin_in(reply.text, label)
        measured = label_probabilities(reply.logprobs, tuple(self.values), begin) if begin >= 0 else None
        if measured is None:
            return None
        mean = sum(self.values[name] * p for name, p in measured.items())
        return float(min(max(self.values.values()), max(min(self.values.values()), mean)))  # no rounding beyond them


class _Outputs(Part):
    """The new field for each thing that is known of a sentence."""

    begin: StrictStr | None = None
    end: StrictStr | None = None
    text: StrictStr | None = None
    document_id: StrictStr | None = None
    message_index: StrictStr | None = None


class DecodeSentences(_Placed):
    """A sentence number is joined by the span it stands for."""

    type: Literal["decode_sentences"]
    sources: Annotated[_Locations, Field(alias="source")]
    output_names: _Outputs

    @model_validator(mode="after")
    def _ends_with_a_field(self) -> DecodeSentences:
        if not self.input_path or not isinstance(self.input_path[-1], str):
            raise wrong("has an input_path that does not end with a field", "a path to a sentence number")
        return self

    @property
    def field(self) -> str:
        """The field that holds sentence numbers."""
        return str(self.input_path[-1])

    def apply(self, value: Any, work: Work) -> Any:
        known = {n: sentence for source in self.sources for n, sentence in work.numbering.sentences[source].items()}

        def decode(record: Any) -> Any:
            if not isinstance(record, dict):
                raise work.malformed("decode_sentences needs records", record)
            number = record.get(self.field)
            if isinstance(number, bool | Flag) or not isinstance(number, int) or number not in known:
                work.dropped += 1
                return _DROP
            sentence = known[number]
            found = {
                "begin": Offset(sentence.span.begin, sentence.text),
                "end": Offset(sentence.span.end, sentence.text),
                "text": sentence.span.text,
                "document_id": sentence.document_id,
                "message_index": sentence.message_index,
            }
            return record | {new: found[key] for key, new in self.output_names if new is not None}

        result = changed(value, self.input_path[:-1], decode)
        if result is _DROP:
            raise work.malformed("the reply names a sentence that does not exist", value)
        return result


class Explode(_Placed):
    """A record with a list becomes one record per element."""

    type: Literal["explode"]
    target_field: StrictStr

    def at(self, found: Any, work: Work) -> list[dict[str, Any]]:
        exploded: list[dict[str, Any]] = []
        for row in self.records(found, work):
            items = row.get(self.target_field)
            if not isinstance(items, list):
                raise work.malformed(f"explode needs a list in {self.target_field!r}", row)
            if len(exploded) + len(items) > _MOST_RECORDS:
                raise work.malformed(f"explode makes more than {_MOST_RECORDS} records", len(items))
            exploded += [row | {self.target_field: item} for item in items]
        return exploded


class DropDuplicates(_Placed):
    """Of records alike in some fields, the first stays."""

    type: Literal["drop_duplicates"]
    target_fields: Names

    def at(self, found: Any, work: Work) -> list[dict[str, Any]]:
        kept: dict[str, dict[str, Any]] = {}
        rows = self.records(found, work)
        for row in rows:
            kept.setdefault(json.dumps([plain(row.get(name)) for name in self.target_fields], sort_keys=True), row)
        work.dropped += len(rows) - len(kept)
        return list(kept.values())


class Project(_Placed):
    """Some fields of a record, or of each record of a list, under the same or other names."""

    type: Literal["project"]
    retained_fields: _NewNames

    def at(self, found: Any, work: Work) -> Any:
        if isinstance(found, dict):
            return {new: found.get(old) for old, new in self.retained_fields.items()}  # type: ignore[union-attr]
        return [self.at(row, work) for row in self.records(found, work)]


class Nest(_Placed):
    """A value becomes the one field of a record."""

    type: Literal["nest"]
    field_name: StrictStr

    def at(self, found: Any, work: Work) -> dict[str, Any]:
        return {self.field_name: found}


class MergeSpans(_Placed):
    """Spans of one group that overlap, touch, or have only whitespace between them become one."""

    type: Literal["merge_spans"]
    group_fields: Names
    begin_field: StrictStr
    end_field: StrictStr
    text_field: StrictStr | None = None

    def at(self, found: Any, work: Work) -> list[dict[str, Any]]:
        rows, span = self.records(found, work), (self.begin_field, self.end_field, self.text_field)
        for row in rows:
            whole = all(isinstance(row.get(name), int) for name in span[:2])
            if not whole or (self.text_field is not None and not isinstance(row.get(self.text_field), str)):
                raise work.malformed("merge_spans needs offsets and text in every record", row)
        merged: list[dict[str, Any]] = []
        for row in sorted(rows, key=self._order):
            # Fields that are neither group nor span keep records apart, too: merging would lose one of their values.
            before = merged.pop() if merged and _without(merged[-1], span) == _without(row, span) else None
            merged += [row] if before is None else self._joined(before, row)
        return merged

    def _order(self, row: dict[str, Any]) -> tuple[Any, ...]:
        return *(_order(row.get(name)) for name in self.group_fields), row[self.begin_field]

    def _joined(self, first: dict[str, Any], second: dict[str, Any]) -> list[dict[str, Any]]:
        """One record, where the second begins before the first ends or nothing but whitespace stands between them."""
        begin, end = second[self.begin_field], first[self.end_field]
        source = getattr(begin, "source", "")
        if begin > end and (not source or source[end:begin].strip()):
            return [first, second]
        end = max(end, second[self.end_field])
        joined = first | {self.end_field: end}
        if self.text_field is not None:
            whole = source[first[self.begin_field] : end]
            joined[self.text_field] = whole or first[self.text_field] + second[self.text_field]
        return [joined]


def _without(row: dict[str, Any], names: Sequence[str | None]) -> dict[str, Any]:
    return {key: value for key, value in row.items() if key not in names}


def _order(value: Any) -> tuple[bool, str, float]:
    """What sorts values of any type: numbers, then texts and others, null last."""
    return (False, "", value) if isinstance(value, int | float) else (value is None, json.dumps(plain(value)), 0)


AnyRule = Likelihood | DecodeSentences | Explode | DropDuplicates | Project | Nest | MergeSpans
Rule = Annotated[AnyRule, Field(discriminator="type")]  # as a file spells it: its `type` says which
