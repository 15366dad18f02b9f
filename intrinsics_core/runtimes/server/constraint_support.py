"""Whether a reply keeps to the constraint it was asked under: one that does not shows that the server ignored it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from intrinsics_core.protocol.errors import MalformedReply
from intrinsics_core.protocol.requests import Choice, Constraint, Generated, Regex
from intrinsics_core.replies import reasoning


def constraint_kept(constraint: Constraint, reply: Generated) -> bool | None:
    """True or False; None where the reply cannot tell: it is empty, cut off, or the constraint is beyond our checks."""
    try:
        text = reasoning.answer(reply).text.strip()
    except MalformedReply:
        return None
    if not text or reply.finish_reason not in (None, "stop"):
        return None
    match constraint:
        case Choice(options):
            return text in options
        case Regex(pattern):
            return _matches(pattern, text)
    return _fits(constraint.schema, text)


def _matches(pattern: str, text: str) -> bool | None:
    try:
        return re.fullmatch(pattern, text) is not None
    except (re.error, RecursionError):  # servers know other dialects of patterns
        return None


def _fits(schema: Any, text: str) -> bool | None:
    import jsonschema

    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return False
    try:
        schema = without_bounds(schema)
        validator = jsonschema.validators.validator_for(schema, jsonschema.Draft202012Validator)(schema)
        return bool(validator.is_valid(value))
    except Exception:  # a schema that is wrong, or refers elsewhere: the server's to refuse
        return None


# What servers that do constrain leave out now and then: whether a number is in its bounds shows nothing.
_BOUNDS = {
    "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "pattern", "format", "minLength",
    "maxLength", "minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties",
}  # fmt: skip
_NAMED = ("properties", "$defs", "definitions")  # mappings whose keys are names, not keywords


def without_bounds(schema: Any) -> Any:
    """The schema without its finer points."""
    if isinstance(schema, list):
        return [without_bounds(item) for item in schema]
    if not isinstance(schema, Mapping):
        return schema
    return {
        key: {name: without_bounds(one) for name, one in value.items()}
        if key in _NAMED and isinstance(value, Mapping)
        else value if key in ("enum", "const") else without_bounds(value)
        for key, value in schema.items()
        if key not in _BOUNDS
    }  # fmt: skip
