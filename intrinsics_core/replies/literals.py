"""Almost JSON: the same value with the quotes and names of Python, a comma too many, or characters left unescaped.

A model writes ``{'label': 'yes', 'sure': True,}`` where nothing holds it to the grammar, and ``"What is C:\\Users?"``
with one backslash where its grammar allows that. It says one thing only, so it is read: single quotes for double ones,
``None``, ``True`` and ``False``, a comma before a closing bracket, and in a string in double quotes a raw newline or
tab, or a backslash that begins no escape of JSON, which stands for itself. A quote that ends too early, a missing
bracket or a bare word is still no JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping

_TOKEN = re.compile(
    r"""(?P<space>\s+)
    | (?P<open>[\[{]) | (?P<close>[\]}]) | (?P<comma>,) | (?P<colon>:)
    | (?P<single>'(?:[^'\\\n]|\\.)*') | (?P<double>"(?:[^"\\]|\\[\s\S])*+")
    | (?P<name>None|True|False|null|true|false)(?!\w)
    | (?P<number>-?\d[\d.eE+-]*)(?!\w)""",
    re.VERBOSE,
)
_NAMES = {"None": "null", "True": "true", "False": "false"}
_QUOTES = re.compile(r"""\\'|\\.|\"""")
_ESCAPES = re.compile(r"""\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})|[\\\x00-\x1f]""")  # valid ones, and what lacks one


class Spelled(str):
    """A value spelled as JSON, token for token what stands in ``original``."""

    original = ""


class CutOff(ValueError):
    """The text ends before the value does."""


def scalars(text: str, begin: int) -> Iterator[int]:
    """Where the strings (keys, too), numbers and names of a JSON text stand, from a place on."""
    while match := _TOKEN.match(text, begin):
        if match.lastgroup in ("single", "double", "name", "number"):
            yield match.start()
        begin = match.end()


def value_place(text: str, begin: int, name: str) -> int:
    """Where the value of a key begins in the object that begins at a place; 0 where the object has no such key.

    Of a key that comes twice it is the last value, as it is in JSON. Keys of objects inside are others.
    """
    depth, is_key, place = 0, False, 0
    while match := _TOKEN.match(text, begin):
        begin, kind = match.end(), match.lastgroup
        depth += (kind == "open") - (kind == "close")
        if depth == 0:
            break
        if kind == "colon" and depth == 1 and is_key:
            place = begin
        if kind != "space":
            is_key = kind in ("single", "double") and match[0][1:-1] == name
    return place


def as_json(text: str, begin: int) -> tuple[Spelled, int]:
    """The value that begins at an opening bracket, spelled as JSON behind as many spaces, and where it ends.

    Raises:
        CutOff: the text ends within it.
        ValueError: it is no such value.
    """
    made: list[str] = []
    last: str | None = None
    depth, at, comma = 0, begin, -1  # comma: the place in `made` of a comma that nothing has followed yet
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            if text[at] == '"' or (text[at] == "'" and "\n" not in text[at:]):
                break
            raise ValueError(f"no value at {at}")
        kind, spelled = match.lastgroup, match[0]
        if kind == "comma" and last in ("open", "comma"):
            raise ValueError(f"a comma with nothing before it at {at}")
        at = match.end()
        if kind == "close" and comma >= 0:
            made[comma] = " "
        if kind != "space":
            last, comma = kind, len(made) if kind == "comma" else -1
        depth += (kind == "open") - (kind == "close")
        made.append(_SPELLING[kind](spelled) if kind in _SPELLING else _NAMES.get(spelled, spelled))
        if depth == 0:
            value = Spelled(" " * begin + "".join(made))
            value.original = text
            return value, at
    raise CutOff(f"nothing closes the bracket at {begin}")


def _single(spelled: str) -> str:
    inner = _QUOTES.sub(lambda match: {"\\'": "'", '"': '\\"'}.get(match[0], match[0]), spelled[1:-1])
    return '"' + inner.replace("\t", "\\t") + '"'


def _double(spelled: str) -> str:
    """With an escape for each control character, and for each backslash that begins none."""
    return _ESCAPES.sub(lambda match: json.dumps(match[0])[1:-1] if len(match[0]) == 1 else match[0], spelled)


_SPELLING: Mapping[str | None, Callable[[str], str]] = {"single": _single, "double": _double}
