"""A stranger's JSON schema, checked when read, and applied to a stranger's replies within limits: neither may keep the
process busy.

Patterns run in the `regex` library, which gives up after a time; ``$ref`` is counted, since doubled references stand
for any number of checks; ``uniqueItems`` compares what items look like once each instead of each with each.
"""

from __future__ import annotations

import copy
import json
import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, NoReturn
from urllib.parse import unquote

from intrinsics_core.protocol.errors import InvalidInput

_PATTERN_SECONDS = 0.5  # for one pattern on one text; a label's takes microseconds
_REFERENCES = 10_000  # followed in one check
DEEPEST = 60  # levels of a schema

_state = threading.local()


class BeyondLimits(Exception):
    """A check that takes more than it may; the message says of what."""


def limited(validator: Any) -> Any:
    """The same class of `jsonschema` validators, within the"""
    import jsonschema

    known: Mapping[str, Any] = validator.VALIDATORS
    own = {"pattern": _pattern, "patternProperties": _pattern_properties, "uniqueItems": _unique}
    own |= {name: _counted(known[name]) for name in ("$ref", "$dynamicRef") if name in known}
    if "additionalProperties" in known:
        own["additionalProperties"] = _without_patterns(known["additionalProperties"])
    return jsonschema.validators.extend(validator, own)  # type: ignore[no-untyped-call]


def first_error(validator: Any, value: Any) -> Any:
    """The most telling error of a value, or None.

    Raises:
        BeyondLimits: to find out takes too long.
    """
    import jsonschema

    _state.references = 0
    return jsonschema.exceptions.best_match(validator.iter_errors(value))


def depth(value: Any) -> int:
    """Levels of lists and mappings within one another; counting stops above the deepest that is taken."""
    level, found = [value], 0
    while level and found <= DEEPEST:
        level = [
            item
            for part in level
            if isinstance(part, dict | list)
            for item in (part.values() if isinstance(part, dict) else part)
        ]
        found += 1
    return found


def searches(pattern: str, text: str) -> bool:
    """Whether a pattern is found in a text.

    Raises:
        BeyondLimits: it takes too long, or is none.
    """
    import regex

    try:
        return regex.search(pattern, text, timeout=_PATTERN_SECONDS) is not None
    except TimeoutError:
        raise BeyondLimits("matching a pattern of the schema against this reply takes too long") from None
    except (regex.error, RecursionError, OverflowError):
        raise BeyondLimits("a pattern of the schema is not a valid regular expression") from None


def _pattern(validator: Any, pattern: Any, instance: Any, schema: Any) -> Iterator[Any]:
    import jsonschema

    if validator.is_type(instance, "string") and not searches(pattern, instance):
        yield jsonschema.ValidationError(f"{instance[:100]!r} does not match {pattern!r}")


def _pattern_properties(validator: Any, patterns: Any, instance: Any, schema: Any) -> Iterator[Any]:
    if not validator.is_type(instance, "object"):
        return
    for pattern, part in patterns.items():
        for key, value in instance.items():
            if searches(pattern, key):
                yield from validator.descend(value, part, path=key, schema_path=pattern)


def _without_patterns(plain: Callable[..., Any]) -> Callable[..., Any]:
    """``additionalProperties`` asks which properties a pattern names, by the standard library's engine: asked here."""

    def check(validator: Any, allowed: Any, instance: Any, schema: Any) -> Iterator[Any]:
        patterns = schema.get("patternProperties")
        if not patterns or not validator.is_type(instance, "object"):
            yield from plain(validator, allowed, instance, schema) or ()
            return
        rest = {k: v for k, v in instance.items() if not any(searches(pattern, k) for pattern in patterns)}
        without = {key: value for key, value in schema.items() if key != "patternProperties"}
        yield from plain(validator, allowed, rest, without) or ()

    return check


def _unique(validator: Any, wanted: Any, instance: Any, schema: Any) -> Iterator[Any]:
    import jsonschema

    if not wanted or not validator.is_type(instance, "array"):
        return
    # Equal values look alike in JSON, but for 1 and 1.0, which JSON Schema takes for the same.
    looks = {json.dumps(_numbered(item), sort_keys=True) for item in instance}
    if len(looks) < len(instance):
        yield jsonschema.ValidationError("has items that are equal")


def _numbered(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _numbered(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_numbered(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _counted(plain: Callable[..., Any]) -> Callable[..., Any]:
    def check(validator: Any, target: Any, instance: Any, schema: Any) -> Iterator[Any]:
        _state.references = getattr(_state, "references", 0) + 1
        if _state.references > _REFERENCES:
            raise BeyondLimits(f"the schema refers to itself more than {_REFERENCES} times for one reply")
        yield from plain(validator, target, instance, schema) or ()

    return check


# --- the schema of a file ---------------------------------------------------------------------------------------------


_BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")


def read(value: Any, named: str) -> Mapping[str, Any] | None:
    """The schema under ``response_format``: as it is, as JSON text, or as OpenAI's chat endpoint wraps one.

    Args:
        named: the file and the key, for errors.

    Raises:
        InvalidInput: it is none, or refers to another file.
    """
    import jsonschema

    def wrong(what: str, expected: str = "a JSON schema", got: Any = value) -> NoReturn:
        raise InvalidInput(f"{named} {what}", expected=expected, got=repr(got)[:200])

    if isinstance(value, str):  # some files hold the schema as JSON text
        try:
            value = json.loads(value)
        except (ValueError, RecursionError) as error:
            wrong(f"is not JSON ({error})")
    if value is None:
        return None
    if not isinstance(value, dict):
        wrong("is not a schema", got=value)
    if depth(value) > DEEPEST:
        wrong(f"has more than {DEEPEST} levels", "a flatter schema")
    if value.get("type") == "json_object":
        return {"type": "object"}
    if value.get("type") == "json_schema":
        inner = value.get("json_schema")
        value = inner.get("schema") if isinstance(inner, dict) else None
        if not isinstance(value, dict):
            wrong("contains no schema", "json_schema: {schema: ...}")
    try:
        jsonschema.validators.validator_for(value, jsonschema.Draft202012Validator).check_schema(value)
    except jsonschema.SchemaError as error:
        wrong(f"is not a valid JSON schema ({error.message[:300]})")
    except (TypeError, ValueError, AttributeError, RecursionError) as error:  # a meta-schema that is none
        wrong(f"is not a JSON schema ({type(error).__name__})")
    for part in _parts(value):
        for key, item in part.items():
            if complaint := _complaint(key, item, value):
                wrong(complaint, "a schema without references to other files", {key: item})
    return value


def _parts(value: Any) -> Iterator[dict[str, Any]]:
    """Every mapping in a schema. What an example or an enum holds is looked at, too, and may be refused with it."""
    if isinstance(value, dict):
        yield value
        value = list(value.values())
    for item in value if isinstance(value, list) else ():
        yield from _parts(item)


def _complaint(key: str, item: Any, schema: Mapping[str, Any]) -> str | None:
    """What a validator would only find out while it reads a reply."""
    if key in ("$ref", "$dynamicRef") and isinstance(item, str):
        if not item.startswith("#"):
            return "refers to another file"
        if item.startswith("#/") and _at(schema, item[2:].split("/")) is None:
            return "refers to a part that does not exist"
        if item != "#" and not item.startswith("#/"):
            return "refers to an anchor, which is not supported"
    return None


def _at(value: Any, pointer: list[str]) -> Any:
    for step in pointer:
        name = unquote(step).replace("~1", "/").replace("~0", "~")
        value = value.get(name) if isinstance(value, dict) else None
    return value


def validator(schema: Mapping[str, Any], numbers: Collection[str]) -> Any:
    """A ``jsonschema`` validator; fields that hold sentence ``numbers`` lose their bounds.

    A sentence that does not exist costs its own entry and not the reply.
    """
    import jsonschema

    relaxed = _relaxed(schema, numbers)
    return limited(jsonschema.validators.validator_for(relaxed, jsonschema.Draft202012Validator))(relaxed)


def _relaxed(given: Mapping[str, Any], numbers: Collection[str]) -> dict[str, Any]:
    schema: dict[str, Any] = copy.deepcopy(dict(given))

    def unbound(value: Any) -> None:
        if isinstance(value, dict):
            for key in _BOUNDS:
                value.pop(key, None)
            unbound(value.get("items"))

    def walk(value: Any) -> None:
        if isinstance(value, dict):
            properties = value.get("properties")
            for name, item in properties.items() if isinstance(properties, dict) else ():
                if name in numbers:
                    unbound(item)
            value = list(value.values())
        for item in value if isinstance(value, list) else ():
            walk(item)

    walk(schema)
    return schema
