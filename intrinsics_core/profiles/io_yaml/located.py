"""Places: JSON whose labels (strings, whole numbers, booleans) remember where they stood in the reply, so that
log-probabilities can be found for them; and sentence numbers as an adapter wants them.

Response sentences (the last message) have numbers of their own. Document sentences come first in the numbers of the
context, and the conversation before the last message goes on from there.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from intrinsics_core.profiles.turns import tagged
from intrinsics_core.protocol.task import Task
from intrinsics_core.replies import literals
from intrinsics_core.text.markup import Defuse
from intrinsics_core.text.sentences import Span


class Located(str):
    """A string; ``begin`` is the place of its opening quote in the reply, -1 where unknown."""

    begin = -1


class Whole(int):
    """A whole number; ``begin`` is the place of its first character in the reply."""

    begin = -1


class Flag(Whole):
    """A boolean, which Python lets nobody extend."""


class Offset(int):
    """A character offset; ``source`` is the text it counts in."""

    source = ""

    @classmethod
    def within(cls, value: int, source: str) -> Offset:
        made = cls(value)
        made.source = source
        return made


def located(text: str, begin: int) -> Located:
    made = Located(text)
    made.begin = begin
    return made


def label_text(value: Any) -> str:
    """A label as the reply spells it."""
    if isinstance(value, bool | Flag):
        return "true" if value else "false"
    return str(int(value)) if isinstance(value, int) else str(value)


def begin_in(text: str, value: Any) -> int:
    """Where a value of a reply's JSON begins in the reply, -1 where that is not known for certain."""
    begin, label = getattr(value, "begin", -1), label_text(value)
    return begin if begin >= 0 and (text.startswith(f'"{label}"', begin) or text.startswith(label, begin)) else -1


def _number(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text} is a number too large to read")
    return value


def _constant(text: str) -> Any:
    raise ValueError(f"{text} is not JSON")


class _KeyedPairs(list[tuple[str, Any]]):
    """An object before its values are placed: a key that comes twice is there twice."""


class Decoder(json.JSONDecoder):
    """Strings come out as :class:`Located`, whole numbers as :class:`Whole`, booleans as :class:`Flag`; NaN and
    infinities, which are no JSON, are refused.
    """

    def __init__(self) -> None:
        super().__init__(parse_constant=_constant, parse_float=_number, object_pairs_hook=_KeyedPairs)

    def raw_decode(self, s: str, idx: int = 0) -> tuple[Any, int]:
        value, end = super().raw_decode(s, idx)
        read = s.original if isinstance(s, literals.Spelled) else s
        return _placed(value, literals.scalars(read, idx)), end


_KINDS: dict[type, Any] = {str: Located, int: Whole, bool: Flag}


def _placed(value: Any, places: Iterator[int]) -> Any:
    """The value with its labels placed; ``places`` are those of all its scalars and keys, in order."""
    if isinstance(value, _KeyedPairs):
        return {key: _placed(item, places) for key, item in value for _of_key in [next(places, -1)]}
    if isinstance(value, list):
        return [_placed(item, places) for item in value]
    begin, kind = next(places, -1), _KINDS.get(type(value))
    if kind is not None:
        value = kind(value)
        value.begin = begin
    return value


_PLAIN: dict[type, Any] = {Located: str, Flag: bool, Whole: int, Offset: int}


def plain(value: Any, kinds: dict[type, Any] = _PLAIN) -> Any:
    """The value as ordinary JSON types."""
    if isinstance(value, dict):
        return {key: plain(item, kinds) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item, kinds) for item in value]
    return kinds.get(type(value), _same)(value)


def _same(value: Any) -> Any:
    return value


def unplaced(value: Any) -> Any:
    """The value with plain booleans, which no check takes for numbers; what it is made of stays as it is."""
    return plain(value, {Flag: bool})


# --- numbered sentences -----------------------------------------------------------------------------------------------


LOCATIONS = ("last_message", "documents", "all_but_last_message")


class Place(NamedTuple):
    """A numbered sentence: ``text[span.begin:span.end] == span.text``, in that document or message."""

    location: str
    span: Span
    text: str
    document_id: str | None = None
    message_index: int | None = None


@dataclass(frozen=True)
class Numbering:
    """All numbered sentences of a task, and the texts with numbers in them."""

    places: dict[str, dict[int, Place]]
    documents: tuple[str, ...]
    messages: tuple[str, ...]


def number(task: Task, prefixes: dict[str, str], defuse: Defuse) -> Numbering:
    """Number the sentences of the locations that have a prefix; all texts are defused."""
    places: dict[str, dict[int, Place]] = {name: {} for name in LOCATIONS}
    documents, messages, at = [], [], 0
    for i, document in enumerate(task.documents):
        if prefix := prefixes.get("documents"):
            sentences = task.document_sentences[i]
            for offset, span in enumerate(sentences):
                places["documents"][at + offset] = Place("documents", span, document.text, task.document_id(i))
            documents.append(tagged(sentences, prefix, at, defuse))
            at += len(sentences)
        else:
            documents.append(defuse(document.text))
    for i, message in enumerate(task.messages):
        last = i == len(task.messages) - 1
        location, start = ("last_message", 0) if last else ("all_but_last_message", at)
        if prefix := prefixes.get(location):
            sentences = task.response_sentences if last and task.response else task.split(message.content)
            for offset, span in enumerate(sentences):
                places[location][start + offset] = Place(location, span, message.content, message_index=i)
            messages.append(tagged(sentences, prefix, start, defuse))
            at += 0 if last else len(sentences)
        else:
            messages.append(defuse(message.content))
    return Numbering(places, tuple(documents), tuple(messages))
