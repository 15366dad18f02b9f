"""From the values of a file from elsewhere to checked models: what is wrong is an error that names file and key.

The shape is pydantic's to check; what it says is turned into the words of this library here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, NoReturn, TypeVar, get_args, get_origin

from pydantic import (
    AllowInfNan,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    StrictFloat,
    StrictInt,
    StrictStr,
    TypeAdapter,
    model_validator,
)
from pydantic import ValidationError as _ValidationError
from pydantic_core import PydanticCustomError

from intrinsics_core.protocol.errors import InvalidInput
from intrinsics_core.protocol.validation import expected_by, located

T = TypeVar("T")

Number = StrictInt | Annotated[StrictFloat, AllowInfNan(False)]  # a bool is never a number


class Part(BaseModel):
    """A mapping of the file: frozen, without keys of its own invention. A null counts as left out."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    @model_validator(mode="before")
    @classmethod
    def _left_out(cls, value: Any) -> Any:
        return {key: item for key, item in value.items() if item is not None} if isinstance(value, Mapping) else value

    @classmethod
    def unknown(cls, value: Any) -> list[str]:
        """Keys of a mapping that this model does not know; with them left out it may still be one."""
        known = {field.alias or name for name, field in cls.model_fields.items()}
        return [str(key) for key in value if key not in known] if isinstance(value, Mapping) else []


def _one_or_more(value: Any) -> Any:
    if not isinstance(value, list) or not value or not all(isinstance(item, str) for item in value):
        raise wrong("is not a list of names", "one or more strings")
    return tuple(value)


Names = Annotated[tuple[StrictStr, ...], BeforeValidator(_one_or_more)]


def wrong(what: str, expected: str) -> PydanticCustomError:
    """The error for a value that is wrong in a way pydantic has no word for; it follows the name of the key."""
    # Braces are placeholders to pydantic.
    return PydanticCustomError("wrong", "{what}", {"what": what, "expected": expected})


def check(kind: Any, value: Any, where: str) -> Any:
    """The value as that model or type.

    Args:
        where: the file, and the part of it that this is.

    Raises:
        InvalidInput: names the key that is wrong.
    """
    try:
        return TypeAdapter(kind).validate_python(value)
    except _ValidationError as error:
        _refuse(error, kind, value, where)


def _refuse(error: _ValidationError, kind: Any, value: Any, where: str) -> NoReturn:
    """The first thing that is wrong, as an error of ours."""
    first = error.errors(include_url=False, include_input=False)[0]
    # A union that its tag decides has no place of its own for an error of the tag.
    tag = ("type",) if first["type"].startswith("union_tag") else ()
    key, got = located((*first["loc"], *tag), value, lacking=bool(tag) or first["type"] == "missing")
    what, expected = _said(first)
    if first["type"] == "extra_forbidden":
        expected = f"one of {', '.join(_keys(kind, first['loc'][:-1]))}"
    raise InvalidInput(f"{_named(where, key)} {what}", expected=expected, got=repr(got)[:200]) from None


def _keys(kind: Any, loc: tuple[int | str, ...]) -> list[str]:
    """The keys that a model knows, or one that is inside it or among several."""
    for step in loc:
        field = None if get_origin(kind) is not None else kind.model_fields.get(step)
        models = [kind] if field is None else [field.annotation]
        while not all(isinstance(model, type) for model in models):
            models = [one for model in models for one in (get_args(model) or [model]) if _is_kind(one)]
        kind = next((m for m in models if field or step in get_args(m.model_fields["type"].annotation)), models[0])
    return [field.alias or name for name, field in kind.model_fields.items()]


def _is_kind(value: Any) -> bool:
    return get_args(value) != () or (isinstance(value, type) and issubclass(value, Part))


def _named(where: str, steps: list[int | str]) -> str:
    path = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps).lstrip(".")
    if not path:
        return where
    return f"{where}{': ' if where.endswith('.yaml') else '.'}{path}"


def _said(error: Any) -> tuple[str, str]:
    """(what is wrong, what would be right) of one of pydantic's errors."""
    context = error.get("ctx") or {}
    match error["type"]:
        case "wrong":
            return context["what"], context["expected"]
        case "missing" | "union_tag_not_found":
            return "is missing", "a value"
        case "extra_forbidden":
            return "is an unknown key", ""
        case "literal_error":
            return "has an unknown value", str(context["expected"])
        case "model_type" | "dict_type" | "mapping_type" | "model_attributes_type":
            return "is not a mapping", "keys and values"
        case "union_tag_invalid":
            return "is an unknown transformation", str(context["expected_tags"])
    return "has the wrong type", expected_by(error)
