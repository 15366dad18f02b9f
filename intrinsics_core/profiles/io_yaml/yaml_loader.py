"""YAML of strangers: regular files, plain values, checked models.

- A file is regular, inside its folder, of a size that was agreed on.
- PyYAML's safe loader makes no objects, but a few hundred bytes of merge keys or of aliases of aliases cost it
  minutes, ``190:20:30`` is a number to it, and ``2024-01-01`` a date. Here aliases and ``<<`` are errors, numbers are
  decimal and dates are text. Values are counted while the file is read, before anything is made of them.
- Their shape is pydantic's to check; what it says is turned into the words of this library, with file and key.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, NoReturn, TypeVar, get_args, get_origin

import yaml
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


def read_text(path: Path, largest: int, root: Path | None = None) -> str:
    """The text of a file.

    Args:
        largest: bytes it may have.
        root: the folder it must lie in, links followed; the file's own where left out. A snapshot of the hub's cache
            (``.../snapshots/<commit>``) links to ``.../blobs`` beside it, which counts as inside.

    Raises:
        OSError: it cannot be read, is no regular file (a pipe, a device), or lies elsewhere.
        ValueError: it is larger, or no UTF-8. No message holds any of its content.
    """
    home = _home((root or path.parent).resolve())
    real = path.resolve()
    if not real.is_relative_to(home):
        raise OSError("it is a link to a file outside its folder")
    if not stat.S_ISREG(os.lstat(real).st_mode):  # before it is opened: opening a pipe waits for its writer
        raise OSError("it is not a regular file")
    descriptor = os.open(real, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0))
    with open(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):  # what it was may have been changed since
            raise OSError("it is not a regular file")
        content = file.read(largest + 1)
    if len(content) > largest:
        raise ValueError(f"it is too large (more than {largest} bytes)")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"it is not UTF-8 (byte {error.start})") from None


def _home(folder: Path) -> Path:
    for snapshot in (folder, *folder.parents):
        if snapshot.parent.name == "snapshots":
            return snapshot.parent.parent
    return folder


# --- values -----------------------------------------------------------------------------------------------------------


_MOST = 20_000  # values in a file
_DEEPEST = 60  # lists and mappings within one another
_LONGEST_NUMBER = 40  # characters


class _Loader(yaml.SafeLoader):
    def __init__(self, stream: str) -> None:
        super().__init__(stream)
        self._depth = self._count = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        self._depth += 1
        self._count += 1
        wrong = {
            "an alias (*), which is not taken": self.check_event(yaml.events.AliasEvent),
            f"more than {_DEEPEST} levels": self._depth > _DEEPEST,
            f"too many values (more than {_MOST})": self._count > _MOST,
        }
        for what, found in wrong.items():
            if found:
                raise yaml.composer.ComposerError(None, None, what, self.peek_event().start_mark)  # type: ignore[no-untyped-call]
        node = super().compose_node(parent, index)
        self._depth -= 1
        return node

    def construct_mapping(self, node: Any, deep: bool = False) -> Any:
        seen: set[Any] = set()
        for key, _ in node.value:
            name = key.value if isinstance(key, yaml.ScalarNode) else None
            if name is None or name in seen:
                why = "a key that is not text" if name is None else "a key that occurs twice"
                raise yaml.constructor.ConstructorError(None, None, why, key.start_mark)
            if name == "<<":
                raise yaml.constructor.ConstructorError(None, None, "a merge key (<<)", key.start_mark)
            seen.add(name)
        return super().construct_mapping(node, deep=deep)

    def construct_yaml_int(self, node: Any) -> int:
        return int(self._number(node))

    def construct_yaml_float(self, node: Any) -> float:
        text = self._number(node).lower()
        return float(text.replace(".inf", "inf").replace(".nan", "nan"))

    def _number(self, node: Any) -> str:
        text = str(node.value).replace("_", "")
        if len(text) > _LONGEST_NUMBER or ":" in text:
            raise yaml.constructor.ConstructorError(None, None, "a number of odd length or form", node.start_mark)
        return text


_PLAIN = {
    "tag:yaml.org,2002:bool": (r"(?:true|True|TRUE|false|False|FALSE)\Z", "tTfF"),
    "tag:yaml.org,2002:null": (r"(?:~|null|Null|NULL|)\Z", ["~", "n", "N", ""]),
    "tag:yaml.org,2002:int": (r"[-+]?[0-9]+\Z", "-+0123456789"),
    "tag:yaml.org,2002:float": (
        r"(?:[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))\Z",
        "-+0123456789.",
    ),
}
_Loader.yaml_implicit_resolvers = {}  # none inherited
for _tag, (_pattern, _first) in _PLAIN.items():
    _Loader.add_implicit_resolver(_tag, re.compile(r"\A" + _pattern), list(_first))
_KINDS = ("str", "bool", "null", "seq", "map")  # and numbers; no dates, no bytes, no sets
_Loader.yaml_constructors = {
    tag: make
    for tag, make in yaml.SafeLoader.yaml_constructors.items()
    if tag is None or tag.rpartition(":")[2] in _KINDS
}
_Loader.add_constructor("tag:yaml.org,2002:int", _Loader.construct_yaml_int)
_Loader.add_constructor("tag:yaml.org,2002:float", _Loader.construct_yaml_float)


def load(text: str) -> Any:
    """The values of one YAML document.

    Raises:
        ValueError: it is none, or holds what is not taken; the message names the line and shows nothing of the text.
    """
    try:
        loader = _Loader(text)
        try:
            return loader.get_single_data()
        finally:
            loader.dispose()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise ValueError(f"line {mark.line + 1}: {error.problem}" if mark else str(error.problem)) from None
    except (yaml.YAMLError, RecursionError, OverflowError) as error:
        raise ValueError(f"it is not YAML ({type(error).__name__})") from None


# --- checked models ---------------------------------------------------------------------------------------------------


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
