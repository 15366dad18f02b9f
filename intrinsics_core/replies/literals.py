"""Almost JSON: the same value with the quotes and names of Python, or a comma too many.

A model asked for JSON writes ``{'label': 'yes', 'sure': True,}`` where nothing holds it to the grammar. That says one
thing only, so it is read: single quotes for double ones, ``None``, ``True`` and ``False``, a comma before a closing
bracket. Nothing else is: a quote that ends too early, a missing bracket or a bare word is still no JSON.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_TOKEN = re.compile(
    r"""(?P<space>\s+)
    | (?P<open>[\[{]) | (?P<close>[\]}]) | (?P<comma>,) | (?P<colon>:)
    | (?P<single>'(?:[^'\\\n]|\\.)*') | (?P<double>"(?:[^"\\\n]|\\.)*")
    | (?P<name>None|True|False|null|true|false)(?!\w)
    | (?P<number>-?\d[\d.eE+-]*)(?!\w)""",
    re.VERBOSE,
)
_NAMES = {"None": "null", "True": "true", "False": "false"}
_QUOTES = re.compile(r"""\\'|\\.|\"""")


class CutOff(ValueError):
    """The text ends before the value does."""


def scalars(text: str, begin: int) -> Iterator[int]:
    """Where the strings (keys, too), numbers and names of a JSON text stand, from a place on."""
    while match := _TOKEN.match(text, begin):
        if match.lastgroup in ("single", "double", "name", "number"):
            yield match.start()
        begin = match.end()


def as_json(text: str, begin: int) -> tuple[str, int]:
    """The value that begins at an opening bracket, spelled as JSON, and where it ends.

    Places in the spelling are places in ``text[begin:]`` as far as no string holds a quotation mark of the other kind.

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
            if text[at] in "'\"" and "\n" not in text[at:]:
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
        made.append(_single(spelled) if kind == "single" else _NAMES.get(spelled, spelled))
        if depth == 0:
            return "".join(made), at
    raise CutOff(f"nothing closes the bracket at {begin}")


def _single(spelled: str) -> str:
    inner = _QUOTES.sub(lambda match: {"\\'": "'", '"': '\\"'}.get(match[0], match[0]), spelled[1:-1])
    return f'"{inner}"'
