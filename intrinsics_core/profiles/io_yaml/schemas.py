"""The ``response_format`` of an ``io.yaml``: a JSON schema, checked when read and applied to every reply."""

from __future__ import annotations

import copy
import json
from collections.abc import Collection, Iterator, Mapping
from typing import Any, NoReturn
from urllib.parse import unquote

from intrinsics_core.profiles.io_yaml import limits
from intrinsics_core.protocol.errors import InvalidInput

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
    if limits.depth(value) > limits.DEEPEST:
        wrong(f"has more than {limits.DEEPEST} levels", "a flatter schema")
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
    return limits.limited(jsonschema.validators.validator_for(relaxed, jsonschema.Draft202012Validator))(relaxed)


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
