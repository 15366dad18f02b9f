"""Places in texts: of labels in a reply, for their log-probabilities, and of the sentences that an adapter numbers.

Response sentences (the last message) have numbers of their own. In the numbers of the context, document sentences come
first, and the conversation before the last message goes on from there.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

from intrinsics_core._support.strict_json import finite, no_number
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

    source: str

    def __new__(cls, value: int, source: str = "") -> Offset:
        made = super().__new__(cls, value)
        made.source = source
        return made


_KINDS: Mapping[type, Any] = {str: Located, int: Whole, bool: Flag}
_PLAIN: Mapping[type, Any] = {Located: str, Flag: bool, Whole: int, Offset: int}


def located(value: Any, begin: int) -> Any:
    """A string, a whole number or a boolean with its place; any other value as it is."""
    if (kind := _KINDS.get(type(value))) is None:
        return value
    made = kind(value)
    made.begin = begin
    return made


def plain(value: Any) -> Any:
    """The value as ordinary JSON types."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    kind = _PLAIN.get(type(value))
    return kind(value) if kind else value


def label_text(value: Any) -> str:
    """A label as the reply spells it."""
    if isinstance(value, bool | Flag):
        return "true" if value else "false"
    return str(int(value)) if isinstance(value, int) else str(value)


def begin_in(text: str, value: Any) -> int:
    """Where a value of a reply's JSON begins in the reply, -1 where that is not known for certain."""
    begin, label = getattr(value, "begin", -1), label_text(value)
    return begin if begin >= 0 and (text.startswith(f'"{label}"', begin) or text.startswith(label, begin)) else -1


class _KeyedPairs(list[tuple[str, Any]]):
    """An object before its values are placed: a key that comes twice is there twice."""


class Decoder(json.JSONDecoder):
    """Strings, whole numbers and booleans come out with their places. NaN and infinities, no JSON, are refused."""

    def __init__(self) -> None:
        super().__init__(parse_constant=no_number, parse_float=finite, object_pairs_hook=_KeyedPairs)

    def raw_decode(self, s: str, idx: int = 0) -> tuple[Any, int]:
        value, end = super().raw_decode(s, idx)
        read = s.original if isinstance(s, literals.Spelled) else s
        return _placed(value, literals.scalars(read, idx)), end


def _placed(value: Any, places: Iterator[int]) -> Any:
    """The value with its labels placed; ``places`` are those of all its scalars and keys, in order."""
    if isinstance(value, _KeyedPairs):
        return {key: _placed(item, places) for key, item in value for _of_key in [next(places, -1)]}
    if isinstance(value, list):
        return [_placed(item, places) for item in value]
    return located(value, next(places, -1))


# --- numbered sentences -----------------------------------------------------------------------------------------------

Location = Literal["last_message", "documents", "all_but_last_message"]
LOCATIONS: tuple[Location, ...] = get_args(Location)


class Numbered(NamedTuple):
    """A sentence with a number: ``text[span.begin:span.end] == span.text``, in that document or message."""

    span: Span
    text: str
    document_id: str | None = None
    message_index: int | None = None


@dataclass(frozen=True)
class Numbering:
    """All numbered sentences of a task by location and number, and the texts with numbers in them."""

    sentences: Mapping[Location, dict[int, Numbered]]
    documents: tuple[str, ...]
    messages: tuple[str, ...]


def number(task: Task, prefixes: Mapping[str, str], defuse: Defuse) -> Numbering:
    """Number the sentences of the locations that have a prefix; all texts are defused."""
    found: dict[Location, dict[int, Numbered]] = {name: {} for name in LOCATIONS}
    context = 0  # how many sentences of the context have numbers

    def shown(at: Location, text: str, sentences: Sequence[Span] | None, **place: Any) -> str:
        nonlocal context
        if sentences is None:
            return defuse(text)
        start = 0 if at == "last_message" else context
        found[at] |= {start + i: Numbered(span, text, **place) for i, span in enumerate(sentences)}
        context += 0 if at == "last_message" else len(sentences)
        return tagged(sentences, prefixes[at], start, defuse)

    split = task.document_sentences if "documents" in prefixes else [None] * len(task.documents)
    documents = [
        shown("documents", document.text, sentences, document_id=task.document_id(i))
        for i, (document, sentences) in enumerate(zip(task.documents, split, strict=True))
    ]
    messages = []
    for i, message in enumerate(task.messages):
        last = i == len(task.messages) - 1
        at: Location = "last_message" if last else "all_but_last_message"
        own = task.response_sentences if last and task.response else task.split(message.content)
        messages.append(shown(at, message.content, own if at in prefixes else None, message_index=i))
    return Numbering(found, tuple(documents), tuple(messages))
