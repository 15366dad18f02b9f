"""YAML of strangers: regular files, plain values, checked models.

- A file is regular, inside its folder, and of a size that was agreed on.
- PyYAML's safe loader makes no objects. But a few hundred bytes of merge keys, or of aliases of aliases, cost it
  minutes; ``190:20:30`` is a number to it, and ``2024-01-01`` a date. Here aliases and ``<<`` are errors, numbers are
  decimal, and dates are text. Values are counted before anything is made of them.
- Pydantic checks their shape. Its errors are told in the words of this library, with file and key.
"""

from __future__ import annotations

import logging
import os
import re
import stat
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar

import yaml
from pydantic import (
    BaseModel,
    Field,
    StrictFloat,
    StrictInt,
    StrictStr,
    TypeAdapter,
    ValidationError,
    ValidationInfo,
    WrapValidator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from intrinsics_core.protocol.errors import InvalidInput
from intrinsics_core.protocol.validation import expected_by, located

log = logging.getLogger(__name__)


def read_text(path: Path, largest: int, root: Path | None = None) -> str:
    """The text of a file.

    Args:
        largest: bytes it may have.
        root: the folder it must lie in, links followed; its own where left out. A snapshot of the hub's cache
            (``.../snapshots/<commit>``) links to ``.../blobs`` beside it, which counts as inside.

    Raises:
        OSError: it cannot be read, is no regular file (a pipe, a device), or lies elsewhere.
        ValueError: it is larger, or no UTF-8. No message holds any of its content.
    """
    home = (root or path.parent).resolve()
    home = next((one.parent.parent for one in (home, *home.parents) if one.parent.name == "snapshots"), home)
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


# --- values -----------------------------------------------------------------------------------------------------------

_MOST = 20_000  # values in a file
_DEEPEST = 60  # lists and mappings within one another

_TAG = "tag:yaml.org,2002:"
_PLAIN: tuple[tuple[str, Callable[[str], Any]], ...] = (  # what a word without quotes is, and its value; no dates
    (r"true|True|TRUE|false|False|FALSE", lambda text: text[0] in "tT"),
    (r"~|null|Null|NULL|", lambda text: None),
    (r"[-+]?[0-9]+", int),
    (r"[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))(?:[eE][-+]?[0-9]+)?", float),
    (r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)", lambda text: float(text.replace(".", ""))),
)


class _Loader(yaml.BaseLoader):
    """Composes nodes, and counts them."""

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
        _refuse(wrong, self.peek_event())  # type: ignore[no-untyped-call]
        node = super().compose_node(parent, index)
        self._depth -= 1
        return node


def _refuse(wrong: Mapping[str, bool], where: Any) -> None:
    """Raise an error with the first thing that is wrong at a node, if anything is."""
    if what := next((what for what, found in wrong.items() if found), None):
        raise yaml.MarkedYAMLError(None, None, what, where.start_mark)


def _value(node: Any) -> Any:
    kind, content = node.tag.removeprefix(_TAG), node.value
    if isinstance(node, yaml.SequenceNode) and kind == "seq":
        return [_value(item) for item in content]
    if isinstance(node, yaml.MappingNode) and kind == "map":
        made: dict[Any, Any] = {}
        for key, item in content:
            name = _value(key) if isinstance(key, yaml.ScalarNode) else None
            wrong = {"a key that is not text": name is None, "a merge key (<<)": name == "<<"}
            _refuse(wrong | {"a key that occurs twice": name in made}, key)
            made[name] = _value(item)
        return made
    taken = isinstance(node, yaml.ScalarNode) and kind == "str"
    _refuse({"a value or a tag that is not taken": not taken}, node)
    if node.style is not None:
        return content
    return next((make(content) for form, make in _PLAIN if re.fullmatch(form, content)), content)


def load(text: str) -> Any:
    """The values of one YAML document.

    Raises:
        ValueError: it is none, or holds what is not taken; the message names the line and shows nothing of the text.
    """
    try:
        loader = _Loader(text)
        try:
            node = loader.get_single_node()
            return None if node is None else _value(node)
        finally:
            loader.dispose()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise ValueError(f"line {mark.line + 1}: {error.problem}" if mark else str(error.problem)) from None
    except (yaml.YAMLError, RecursionError) as error:
        raise ValueError(f"it is not YAML ({type(error).__name__})") from None


# --- checked models ---------------------------------------------------------------------------------------------------


def wrong(what: str, expected: str, key: str | None = None) -> PydanticCustomError:
    """The error for a value that is wrong in a way pydantic has no word for; ``what`` follows the name of the key."""
    # Braces are placeholders to pydantic.
    return PydanticCustomError("wrong", "{what}", {"what": what, "expected": expected, "key": key})


def told(what: str, expected: str) -> WrapValidator:
    """One error for all that may be wrong with a value."""

    def validate(value: Any, check: Any) -> Any:
        try:
            return check(value)
        except ValidationError:
            raise wrong(what, expected) from None

    return WrapValidator(validate)


Number = Annotated[  # a bool is never one
    StrictInt | Annotated[StrictFloat, Field(allow_inf_nan=False)], told("has the wrong type", "a finite number")
]
Names = Annotated[tuple[StrictStr, ...], Field(min_length=1), told("is not a list of names", "one or more strings")]


class Part(BaseModel, frozen=True):
    """A mapping of the file: frozen, without keys of its own invention. A null counts as left out.

    ``grows`` is what stands before a key in a warning, where a newer file may have keys that nobody here knows: they
    are left out. None where an unknown key is an error.
    """

    grows: ClassVar[str | None] = None

    @model_validator(mode="before")
    @classmethod
    def _known(cls, value: Any, info: ValidationInfo) -> Any:
        if not isinstance(value, Mapping):
            return value
        known = [field.alias or name for name, field in cls.model_fields.items()]
        unknown = [str(key) for key in value if key not in known]
        if unknown and cls.grows is None:
            raise wrong("is an unknown key", f"one of {', '.join(known)}", unknown[0])
        if unknown:
            log.warning("%s: unknown keys are ignored: %s", info.context, ", ".join(f"{cls.grows}{k}" for k in unknown))
        return {key: item for key, item in value.items() if item is not None and key in known}


def check(kind: Any, value: Any, where: str) -> Any:
    """The value as that model or type.

    Args:
        where: the file, and the part of it that this is.

    Raises:
        InvalidInput: names the key that is wrong.
    """
    try:
        return TypeAdapter(kind).validate_python(value, context=where)
    except ValidationError as caught:
        error = caught.errors(include_url=False, include_input=False)[0]
    key = error.get("ctx", {}).get("key")
    # A union that its tag decides has no place of its own for an error of the tag.
    lacked = ["type"] if error["type"].startswith("union_tag") else [] if key is None else [key]
    steps, got = located((*error["loc"], *lacked), value, lacking=bool(lacked) or error["type"] == "missing")
    path = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps).lstrip(".")
    named = f"{where}{': ' if where.endswith('.yaml') else '.'}{path}" if path else where
    what, expected = _SAID.get(error["type"]) or ("has the wrong type", "{other}")
    context = {"other": expected_by(error), **error.get("ctx", {})}
    raise InvalidInput(f"{named} {what.format(**context)}", expected=expected.format(**context), got=repr(got)[:200])


_SAID = {  # of pydantic's errors: what is wrong, and what would be right
    "wrong": ("{what}", "{expected}"),
    "missing": ("is missing", "a value"),
    "union_tag_not_found": ("is missing", "a value"),
    "union_tag_invalid": ("is an unknown transformation", "{expected_tags}"),
    "literal_error": ("has an unknown value", "{expected}"),
    **dict.fromkeys(("model_type", "dict_type", "model_attributes_type"), ("is not a mapping", "keys and values")),
}
