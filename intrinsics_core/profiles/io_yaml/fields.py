"""Which fields a reply has by the file's schema, and which of them holds a label."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from intrinsics_core.profiles.io_yaml.spec import Spec

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


def verdict(fields: Mapping[str, Schema], texts: Collection[str]) -> str | None:
    """The field of a sentence's label among its ``texts``, None where neither values nor name tell.

    It has the known labels as its values, else a usual name.
    """
    known = [name for name in texts if "enum" in fields.get(name, {}) and admitted(fields[name], "faithful")]
    return next(iter((*known, *(name for name in _VERDICT if name in texts))), None)
