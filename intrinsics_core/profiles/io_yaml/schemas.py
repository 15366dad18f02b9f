"""A stranger's JSON schema: checked when it is read, applied to replies within limits, and its fields.

Neither a schema nor a reply may keep the process busy. Patterns run in the `regex` library, which gives up after a
time. References (``$ref``) are counted, since doubled ones stand for any number of checks. ``uniqueItems`` compares
what items look like once each, instead of each with each.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any
from urllib.parse import unquote

import jsonschema
import regex

from intrinsics_core.profiles.io_yaml.yaml_loader import wrong

Schema = Mapping[str, Any]

_PATTERN_SECONDS = 0.5  # for one pattern on one text; a label's takes microseconds
_REFERENCES = 10_000  # followed in one check
_DEEPEST = 60  # levels of a schema
_REFERRING = ("$ref", "$dynamicRef")
_BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")


# --- the schema of a file ---------------------------------------------------------------------------------------------


def read(value: Any) -> Schema | None:
    """The schema under ``response_format``: as it is, as JSON text, or as OpenAI's chat endpoint wraps one.

    Raises:
        PydanticCustomError: it is none, or refers to another file.
    """
    if isinstance(value, str):  # some files hold the schema as JSON text
        try:
            value = json.loads(value)
        except (ValueError, RecursionError) as error:
            raise wrong(f"is not JSON ({error})", "a JSON schema") from None
    if value is None:
        return None
    if not isinstance(value, dict):
        raise wrong("is not a schema", "a JSON schema")
    if _is_deeper(value, _DEEPEST):
        raise wrong(f"has more than {_DEEPEST} levels", "a flatter schema")
    if value.get("type") == "json_object":
        return {"type": "object"}
    if value.get("type") == "json_schema":
        inner = value.get("json_schema")
        value = inner.get("schema") if isinstance(inner, dict) else None
        if not isinstance(value, dict):
            raise wrong("contains no schema", "json_schema: {schema: ...}")
    try:
        _kind(value).check_schema(value)
    except jsonschema.SchemaError as error:
        raise wrong(f"is not a valid JSON schema ({error.message[:300]})", "a JSON schema") from None
    except (TypeError, ValueError, AttributeError, RecursionError) as error:  # a meta-schema that is none
        raise wrong(f"is not a JSON schema ({type(error).__name__})", "a JSON schema") from None
    for part in _mappings(value):
        if "patternProperties" in part:
            raise wrong("names properties by patterns, which is not supported", "properties with names")
        for pointer in (part[key] for key in _REFERRING if isinstance(part.get(key), str)):
            if complaint := _complaint(pointer, value):
                raise wrong(f"{complaint}: {pointer[:100]}", "a schema without references to other files")
    return value


def _kind(schema: Schema) -> Any:
    return jsonschema.validators.validator_for(schema, jsonschema.Draft202012Validator)


def _parts(value: Any) -> Collection[Any]:
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()


def _is_deeper(value: Any, levels: int) -> bool:
    return levels < 0 or any(_is_deeper(part, levels - 1) for part in _parts(value))


def _mappings(value: Any) -> Iterator[dict[str, Any]]:
    """Every mapping in a schema. What an example or an enum holds is looked at, too, and may be refused with it."""
    if isinstance(value, dict):
        yield value
    for part in _parts(value):
        yield from _mappings(part)


def _complaint(pointer: str, schema: Schema) -> str | None:
    """What a validator would only find out while it reads a reply."""
    if not pointer.startswith("#"):
        return "refers to another file"
    if not pointer.startswith("#/") and pointer != "#":
        return "refers to an anchor, which is not supported"
    return "refers to a part that does not exist" if _target(pointer, schema) is None else None


def _target(pointer: str, schema: Schema) -> Any:
    """The part that a reference within the schema means, None where there is none."""
    value: Any = schema
    for step in pointer.split("/")[1:]:
        name = unquote(step).replace("~1", "/").replace("~0", "~")
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


# --- its fields -------------------------------------------------------------------------------------------------------


def resolved(part: Any, root: Schema) -> Schema:
    """A part of a schema, its reference followed; references of references are rare and bounded."""
    for _ in range(8):
        pointer = part.get("$ref") if isinstance(part, Mapping) else None
        if not isinstance(pointer, str):
            break
        part = _target(pointer, root)
    return part if isinstance(part, Mapping) else {}


def fields(part: Any, root: Schema) -> dict[str, Schema]:
    """The fields of an object, in the order in which constrained decoding writes them."""
    properties = resolved(part, root).get("properties")
    return {str(n): resolved(p, root) for n, p in properties.items()} if isinstance(properties, Mapping) else {}


def record_fields(root: Schema | None) -> dict[str, Schema]:
    """The fields of one record of a list."""
    return fields(resolved(root, root or {}).get("items"), root or {})


def admitted(schema: Schema, text: str) -> str | None:
    """The text in the spelling of a field's own labels, None where the field is for something else."""
    if "enum" in schema:
        return next((e for e in schema["enum"] if isinstance(e, str) and e.casefold() == text.casefold()), None)
    return text if schema.get("type", "string") == "string" else None


# --- a reply by the schema --------------------------------------------------------------------------------------------


class BeyondLimits(Exception):
    """A check that takes more than it may; the message says of what."""


def validator(schema: Schema, numbers: Collection[str] = ()) -> Any:
    """A validator of ``jsonschema`` that keeps within the limits.

    Args:
        numbers: fields that hold sentence numbers. They lose their bounds: a sentence that does not exist costs its own
            entry and not the reply.
    """
    kind = _kind(schema)
    own = {"pattern": _pattern, "uniqueItems": _unique}
    own |= {name: _counted(kind.VALIDATORS[name]) for name in _REFERRING if name in kind.VALIDATORS}
    return jsonschema.validators.extend(kind, own)(_unbound(schema, numbers))  # type: ignore[no-untyped-call]


def first_error(validator: Any, value: Any) -> Any:
    """The most telling error of a value, or None.

    Raises:
        BeyondLimits: to find out takes too long.
    """
    _state.references = 0
    return jsonschema.exceptions.best_match(validator.iter_errors(value))


_state = threading.local()


def _unbound(value: Any, numbers: Collection[str], inside: bool = False) -> Any:
    """A part of a schema without bounds on what is ``inside`` fields of these names."""
    if isinstance(value, list):
        return [_unbound(item, numbers) for item in value]
    if not isinstance(value, Mapping):
        return value
    made = {key: _unbound(item, numbers, inside and key == "items") for key, item in value.items()}
    if isinstance(properties := value.get("properties"), Mapping):
        made["properties"] = {name: _unbound(item, numbers, name in numbers) for name, item in properties.items()}
    return {key: item for key, item in made.items() if not (inside and key in _BOUNDS)}


def _matches(pattern: str, text: str) -> bool:
    try:
        return regex.search(pattern, text, timeout=_PATTERN_SECONDS) is not None
    except TimeoutError:
        raise BeyondLimits("matching a pattern of the schema against this reply takes too long") from None
    except (regex.error, RecursionError, OverflowError):
        raise BeyondLimits("a pattern of the schema is not a valid regular expression") from None


def _pattern(validator: Any, pattern: Any, instance: Any, schema: Any) -> Iterator[Any]:
    if validator.is_type(instance, "string") and not _matches(pattern, instance):
        yield jsonschema.ValidationError(f"{instance[:100]!r} does not match {pattern!r}")


def _unique(validator: Any, wanted: Any, instance: Any, schema: Any) -> Iterator[Any]:
    if wanted and validator.is_type(instance, "array"):
        # Equal values look alike in JSON, but for 1 and 1.0, which JSON Schema takes for the same.
        same = (json.loads(json.dumps(item), parse_float=_as_whole) for item in instance)
        if len({json.dumps(item, sort_keys=True) for item in same}) < len(instance):
            yield jsonschema.ValidationError("has items that are equal")


def _as_whole(text: str) -> float:
    value = float(text)
    return int(value) if value.is_integer() else value


def _counted(plain: Callable[..., Any]) -> Callable[..., Any]:
    def check(validator: Any, target: Any, instance: Any, schema: Any) -> Iterator[Any]:
        _state.references = getattr(_state, "references", 0) + 1
        if _state.references > _REFERENCES:
            raise BeyondLimits(f"the schema refers to itself more than {_REFERENCES} times for one reply")
        yield from plain(validator, target, instance, schema) or ()

    return check
