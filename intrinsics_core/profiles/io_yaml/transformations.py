"""The transformations of an ``io.yaml``: from the adapter's reply to the JSON that is returned.

Each rule is a frozen value with ``apply(value, work)``; it never changes what it is given. Where a reply names a
sentence that does not exist, the record it stands in is dropped and counted. Spans are offsets in the caller's own
texts, and adjacent spans are merged over the whitespace between them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from intrinsics_core.errors import MalformedReply
from intrinsics_core.profiles.io_yaml.checked import Section
from intrinsics_core.profiles.io_yaml.located import Located, Offset, begin_in, offset
from intrinsics_core.profiles.io_yaml.sentences import LOCATIONS, Numbering
from intrinsics_core.replies.labels import label_probabilities
from intrinsics_core.requests import Generated

Path = tuple[str | int | None, ...]
_DROP: Any = object()


@dataclass
class Work:
    """What rules look things up in; ``dropped`` counts the entries they left out."""

    numbering: Numbering
    reply: Generated
    dropped: int = 0

    def malformed(self, message: str, got: Any) -> MalformedReply:
        return MalformedReply(message, got=repr(got)[:500], raw=self.reply.text)


class Rule(Protocol):
    name: ClassVar[str]

    def apply(self, value: Any, work: Work) -> Any:
        """The value after this rule.

        Raises:
            MalformedReply: the reply does not have the shape that the rule works on.
        """


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


@dataclass(frozen=True)
class _Placed:
    input_path: Path

    def records(self, value: Any, work: Work) -> list[dict[str, Any]]:
        if isinstance(value, list) and all(isinstance(row, dict) for row in value):
            return value
        raise work.malformed(f"{type(self).name} wants a list of records", value)  # type: ignore[attr-defined]


@dataclass(frozen=True)
class Likelihood(_Placed):
    """A label becomes its value: the mean over all labels where log-probabilities are given, else the label's own."""

    name: ClassVar[str] = "likelihood"
    values: Mapping[str, float]

    @classmethod
    def read(cls, section: Section, path: Path) -> Likelihood:
        raw = section.get("categories_to_values", dict, "a mapping from label to number")
        values = {_label(key): value for key, value in raw.items()}
        if not values or any(isinstance(v, bool) or not isinstance(v, int | float) for v in values.values()):
            section.wrong("categories_to_values", "is not a mapping from label to number", expected="label: number")
        return cls(path, {key: float(value) for key, value in values.items()})

    def apply(self, value: Any, work: Work) -> Any:
        return changed(value, self.input_path, lambda found: self.measure(found, work))

    def measure(self, value: Any, work: Work) -> float:
        key = _label(value) if isinstance(value, str | int | bool) else None
        if key is None or key not in self.values:
            raise work.malformed(f"the label is none of {', '.join(self.values)}", value)
        begin = begin_in(work.reply.text, value)
        measured = label_probabilities(work.reply.logprobs, tuple(self.values), begin) if begin >= 0 else None
        if measured is None:
            return self.values[key]
        mean = sum(self.values[name] * p for name, p in measured.items())
        return min(max(self.values.values()), max(min(self.values.values()), mean))  # no rounding beyond the ends


@dataclass(frozen=True)
class DecodeSentences(_Placed):
    """A sentence number is joined by the span it stands for."""

    name: ClassVar[str] = "decode_sentences"
    sources: tuple[str, ...]
    output_names: Mapping[str, str]

    @classmethod
    def read(cls, section: Section, path: Path) -> DecodeSentences:
        source = section.get("source", (str, list), f"one or more of {', '.join(LOCATIONS)}")
        sources = (source,) if isinstance(source, str) else section.texts("source")
        if any(name not in LOCATIONS for name in sources):
            section.wrong("source", "is an unknown location", expected=f"one or more of {', '.join(LOCATIONS)}")
        names = section.section("output_names")
        if names is None:
            section.wrong("output_names", "is missing", expected="begin, end, text, document_id or message_index")
        names.only(_OUTPUTS)
        if not path or not isinstance(path[-1], str):
            section.wrong("input_path", "does not end with a field", expected="a path to a sentence number")
        return cls(path, sources, {key: names.get(key, str, "a field name") for key, _ in names.items()})

    def apply(self, value: Any, work: Work) -> Any:
        places = {n: place for source in self.sources for n, place in work.numbering.places[source].items()}
        field = self.input_path[-1]

        def decode(record: Any) -> Any:
            if not isinstance(record, dict):
                raise work.malformed("decode_sentences wants records", record)
            number = record.get(str(field))
            if isinstance(number, bool) or not isinstance(number, int) or number not in places:
                work.dropped += 1
                return _DROP
            place = places[number]
            found: dict[str, Any] = {
                "begin": offset(place.span.begin, place.text),
                "end": offset(place.span.end, place.text),
                "text": place.span.text,
                "document_id": place.document_id,
                "message_index": place.message_index,
            }
            return record | {new: found[key] for key, new in self.output_names.items()}

        result = changed(value, self.input_path[:-1], decode)
        if result is _DROP:
            raise work.malformed("the reply names a sentence that does not exist", value)
        return result


_MOST_RECORDS = 20_000  # that one reply may become: explode after explode multiplies


@dataclass(frozen=True)
class Explode(_Placed):
    """A record with a list becomes one record per element."""

    name: ClassVar[str] = "explode"
    target_field: str

    @classmethod
    def read(cls, section: Section, path: Path) -> Explode:
        return cls(path, section.get("target_field", str, "a field name"))

    def apply(self, value: Any, work: Work) -> Any:
        return changed(value, self.input_path, lambda rows: self._rows(rows, work))

    def _rows(self, rows: Any, work: Work) -> list[dict[str, Any]]:
        exploded: list[dict[str, Any]] = []
        for row in self.records(rows, work):
            items = row.get(self.target_field)
            if not isinstance(items, list):
                raise work.malformed(f"explode wants a list in {self.target_field!r}", row)
            if len(exploded) + len(items) > _MOST_RECORDS:
                raise work.malformed(f"explode makes more than {_MOST_RECORDS} records", len(items))
            exploded += [row | {self.target_field: item} for item in items]
        return exploded


@dataclass(frozen=True)
class DropDuplicates(_Placed):
    """Of records alike in some fields, the first stays."""

    name: ClassVar[str] = "drop_duplicates"
    target_fields: tuple[str, ...]

    @classmethod
    def read(cls, section: Section, path: Path) -> DropDuplicates:
        return cls(path, section.texts("target_fields"))

    def apply(self, value: Any, work: Work) -> Any:
        return changed(value, self.input_path, lambda rows: self._rows(rows, work))

    def _rows(self, rows: Any, work: Work) -> list[dict[str, Any]]:
        kept: dict[str, dict[str, Any]] = {}
        rows = self.records(rows, work)
        for row in rows:
            kept.setdefault(_key(row, self.target_fields), row)
        work.dropped += len(rows) - len(kept)
        return list(kept.values())


@dataclass(frozen=True)
class Project(_Placed):
    """Some fields of a record, or of each record of a list, under the same or other names."""

    name: ClassVar[str] = "project"
    retained_fields: Mapping[str, str]

    @classmethod
    def read(cls, section: Section, path: Path) -> Project:
        raw = section.get("retained_fields", (list, dict), "a list of fields, or a mapping to new names")
        named = raw if isinstance(raw, dict) else {name: name for name in section.texts("retained_fields")}
        if not all(isinstance(name, str) for pair in named.items() for name in pair):
            section.wrong("retained_fields", "has names that are no text", expected="old: new")
        return cls(path, named)

    def apply(self, value: Any, work: Work) -> Any:
        def project(found: Any) -> Any:
            if isinstance(found, dict):
                return {new: found.get(old) for old, new in self.retained_fields.items()}
            return [project(row) for row in self.records(found, work)]

        return changed(value, self.input_path, project)


@dataclass(frozen=True)
class Nest(_Placed):
    """A value becomes the one field of a record."""

    name: ClassVar[str] = "nest"
    field_name: str

    @classmethod
    def read(cls, section: Section, path: Path) -> Nest:
        return cls(path, section.get("field_name", str, "a field name"))

    def apply(self, value: Any, work: Work) -> Any:
        return changed(value, self.input_path, lambda found: {self.field_name: found})


@dataclass(frozen=True)
class MergeSpans(_Placed):
    """Spans of one group that overlap, touch, or have only whitespace between them become one."""

    name: ClassVar[str] = "merge_spans"
    group_fields: tuple[str, ...]
    begin_field: str
    end_field: str
    text_field: str | None

    @classmethod
    def read(cls, section: Section, path: Path) -> MergeSpans:
        return cls(
            path,
            section.texts("group_fields"),
            section.get("begin_field", str, "a field name"),
            section.get("end_field", str, "a field name"),
            section.get("text_field", str, "a field name", None),
        )

    def apply(self, value: Any, work: Work) -> Any:
        return changed(value, self.input_path, lambda rows: self._rows(rows, work))

    def _rows(self, rows: Any, work: Work) -> list[dict[str, Any]]:
        rows = self.records(rows, work)
        for row in rows:
            whole = all(isinstance(row.get(f), int) for f in (self.begin_field, self.end_field))
            if not whole or (self.text_field is not None and not isinstance(row.get(self.text_field), str)):
                raise work.malformed("merge_spans wants offsets and text in every record", row)
        span = (self.begin_field, self.end_field, self.text_field)
        merged: list[dict[str, Any]] = []
        for row in sorted(rows, key=lambda row: (_order(row, self.group_fields), row[self.begin_field])):
            # Fields that are neither group nor span keep records apart, too: merging would lose one of their values.
            if merged and _rest(merged[-1], span) == _rest(row, span) and self._adjacent(merged[-1], row):
                merged[-1] = self._joined(merged[-1], row)
            else:
                merged.append(row)
        return merged

    def _adjacent(self, first: dict[str, Any], second: dict[str, Any]) -> bool:
        end, begin = first[self.end_field], second[self.begin_field]
        source = _source(begin)
        return begin <= end or (bool(source) and not source[end:begin].strip())

    def _joined(self, first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
        begin, end = first[self.begin_field], max(first[self.end_field], second[self.end_field])
        joined = first | {self.end_field: end}
        if self.text_field is not None:
            source = _source(begin)
            joined[self.text_field] = source[begin:end] if source else first[self.text_field] + second[self.text_field]
        return joined


RULES: Mapping[str, Any] = {
    rule.name: rule for rule in (Likelihood, DecodeSentences, Explode, DropDuplicates, Project, Nest, MergeSpans)
}
_OUTPUTS = ("begin", "end", "text", "document_id", "message_index")
_FIELDS = {
    "likelihood": ("categories_to_values",),
    "decode_sentences": ("source", "output_names"),
    "explode": ("target_field",),
    "drop_duplicates": ("target_fields",),
    "project": ("retained_fields",),
    "nest": ("field_name",),
    "merge_spans": ("group_fields", "begin_field", "end_field", "text_field"),
}


def read(value: Any, where: str) -> Rule:
    """One entry of ``transformations``.

    Raises:
        InvalidInput: names the key that is wrong.
    """
    section = Section(value, where)
    name = section.get("type", str, f"one of {', '.join(RULES)}")
    if name not in RULES:
        section.wrong("type", "is an unknown transformation", expected=f"one of {', '.join(RULES)}")
    section.only(("type", "input_path", *_FIELDS[name]))
    path = section.get("input_path", list, "a list of field names, indices or null", [])
    if not all(p is None or isinstance(p, str) or (isinstance(p, int) and not isinstance(p, bool)) for p in path):
        section.wrong("input_path", "is not a path", expected="a list of field names, indices or null")
    rule: Rule = RULES[name].read(section, tuple(path))
    return rule


def _label(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _key(row: Mapping[str, Any], fields: Sequence[str]) -> str:
    return json.dumps([row.get(name) for name in fields], sort_keys=True)


def _order(row: Mapping[str, Any], fields: Sequence[str]) -> tuple[tuple[bool, str, Any], ...]:
    """Sorts values of any type; null comes last."""
    found = [row.get(name) for name in fields]
    return tuple(
        (
            v is None,
            "number" if isinstance(v, int | float) else "text",
            v if isinstance(v, int | float) else json.dumps(v),
        )
        for v in found
    )


def _rest(row: Mapping[str, Any], span: Sequence[str | None]) -> dict[str, Any]:
    return {key: value for key, value in row.items() if key not in span}


def _source(value: Any) -> str:
    return value.source if isinstance(value, Offset) else ""


__all__ = ["RULES", "DecodeSentences", "Likelihood", "Located", "Rule", "Work", "read"]
