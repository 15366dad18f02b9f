"""JSON out of a model's reply.

Documented repairs, and no others: prose or a code fence around the JSON is passed over, and so is an empty object that
another one follows; a JSON string that holds JSON is opened (once); what is almost JSON is read as what it means
(`literals`); the first value of the wanted kind counts, but nothing inside a value of another kind. A truncated reply
is malformed: what was cut off is unknown, and a list inside it is not the list that was asked for.

Of several values with the same keys that differ, the first ones are drafts: the last one counts where the reply ends
with it. Else, and where the reply opens with the first, it contradicts itself. In a reply that ended at its limit, a
value with text before and behind it may be a draft whose correction was cut off: it does not count, unless one line
announces it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from intrinsics_core.protocol.errors import MalformedReply
from intrinsics_core.replies import literals

_FENCE = re.compile(r"[\s`]*+(?:json[\s`]*+)?", re.IGNORECASE)
DECODER = json.JSONDecoder()
"""What reads a reply where nothing else is asked for."""
_ANNOUNCED = re.compile(r"\s*+[^\n.!?]{0,120}(?::[\s*_`]*+|\s*+```)(?:json)?\s*+", re.IGNORECASE)
_OPENER = re.compile(r"[\[{]")
_ATTEMPTS = 64  # opening brackets tried; prose with thousands of brackets must not cost quadratic time
_SAME: Any = object()


def malformed(what: str, text: str, expected: str, got: Any = _SAME) -> MalformedReply:
    """The error for a reply of this text; ``got`` is what of it is wrong, all of it where left out."""
    return MalformedReply(what, expected=expected, got=repr(text if got is _SAME else got), raw=text)


class ReadValue(NamedTuple):
    """A value of a reply: ``text[begin:end]``. ``text`` is what was read: the reply, or the JSON in its one string."""

    value: Any
    text: str
    begin: int
    end: int

    @property
    def opens(self) -> bool:
        """Whether nothing but a code fence stands before it."""
        return _FENCE.fullmatch(self.text[: self.begin]) is not None

    @property
    def closes(self) -> bool:
        """Whether nothing but a code fence stands behind it."""
        return _FENCE.fullmatch(self.text[self.end :]) is not None

    @property
    def may_be_draft(self) -> bool:
        """Whether text stands both before and behind it, and is more than a line with a colon or a fence before it."""
        return not (self.opens or self.closes or _ANNOUNCED.fullmatch(self.text, 0, self.begin))


def parse(text: str, kind: type, expected: str, decoder: json.JSONDecoder = DECODER, *, cut_off: bool = False) -> Any:
    """The JSON value of ``kind`` (dict or list) that a reply gives.

    Args:
        expected: what the reply should have been, for the error.
        decoder: another decoder, for callers to whom a repeated key or the place of a value matters.
        cut_off: the reply ended at its limit. A value in the middle of a text is then a draft in unended thoughts.

    Raises:
        MalformedReply: there is none, or the reply contradicts itself, or no encoding can hold its text.
    """
    found = find(text, kind, expected, decoder)
    if cut_off and found.may_be_draft:
        raise malformed("the reply was cut off before it came to its answer", text, expected)
    return writable(found.value, found.text, expected)


def find(text: str, kind: type, expected: str, decoder: json.JSONDecoder = DECODER) -> ReadValue:
    """The value that :func:`parse` reads, with its place."""
    if whole := _whole(text, kind, decoder):
        return whole
    values = list(_values(text, kind, decoder))
    # {} in prose; the answer may follow.
    first = next((found for found in values if found.value != {}), values[0] if values else None)
    if first is None:
        raise malformed("the reply contains no JSON of the expected form", text, expected)
    alike = [found for found in values if found is first or _same_form(first.value, found.value)]
    if all(_agree(first.value, found.value) for found in alike):
        return first
    if alike[-1].closes and not first.opens:
        return alike[-1]
    raise malformed("the reply contradicts itself: it gives several answers", text, f"one of them: {expected}")


def cut_off_before(text: str, kind: type) -> bool:
    """Whether a text that ended at its limit was cut off before it came to a value: it begins with prose, and ends so.

    So do thoughts whose opening tag a chat template wrote. A value that is itself cut off is another matter.
    """
    if _FENCE.sub("", text, count=1)[:1] in ("", "{", "[", '"'):
        return False
    try:
        return find(text, kind, "JSON").may_be_draft
    except MalformedReply:
        return True


def _whole(text: str, kind: type, decoder: json.JSONDecoder) -> ReadValue | None:
    """The reply as one value of JSON, or as one string that holds one."""
    try:
        value = decoder.decode(text)
        if isinstance(value, str):
            text, value = value, decoder.decode(value)
    except (ValueError, RecursionError):
        return None
    return ReadValue(value, text, len(text) - len(text.lstrip()), len(text)) if isinstance(value, kind) else None


def _values(text: str, kind: type, decoder: json.JSONDecoder) -> Iterator[ReadValue]:
    """The values of ``kind`` in a text, in their order; nothing inside another value is one."""
    end = 0
    for _ in range(_ATTEMPTS):
        opener = _OPENER.search(text, end)
        if opener is None:
            return
        end = opener.end()
        try:
            value, end = _value(text, opener.start(), decoder)
        except (literals.CutOff, RecursionError):
            return  # nothing nests so deeply that we asked for, and the next bracket is only one less deep
        except ValueError:
            continue
        if isinstance(value, kind):
            yield ReadValue(value, text, opener.start(), end)


def _value(text: str, begin: int, decoder: json.JSONDecoder) -> tuple[Any, int]:
    """The value at a bracket, and where it ends. Of a whole value of another kind, nothing inside is looked at.

    Raises:
        CutOff: the text ends within it.
        ValueError: there is none.
    """
    try:
        return decoder.raw_decode(text, begin)
    except json.JSONDecodeError as error:
        if error.msg.startswith("Unterminated") or not text[error.pos :].strip():
            raise literals.CutOff(str(error)) from None
    spelled, end = literals.as_json(text, begin)
    return decoder.decode(spelled), end


def _same_form(one: Any, other: Any) -> bool:
    """Whether two values answer the same question: the keys of one are all in the other, and likewise for rows."""
    if isinstance(one, list) and isinstance(other, list) and one and other:
        if all(isinstance(item, str) for item in (*one, *other)):
            return True
        one, other = one[0], other[0]
    both = isinstance(one, dict) and isinstance(other, dict) and one and other
    return bool(both) and (one.keys() <= other.keys() or other.keys() <= one.keys())


def _agree(one: Any, other: Any) -> bool:
    """Whether two values of the same form say the same, as far as both say anything."""
    try:
        if isinstance(one, dict):
            return all(one[key] == other[key] for key in one.keys() & other.keys())
        return bool(one == other)
    except RecursionError:  # nothing that we asked for nests so deeply
        return False


def writable(value: Any, text: str, expected: str) -> Any:
    """The value. One that holds half a surrogate pair, which JSON can spell and no encoding can, is malformed."""
    try:
        (text if "\\ud" not in text.lower() else json.dumps(value, ensure_ascii=False)).encode()
    except UnicodeEncodeError:
        raise malformed("the reply contains half of a surrogate pair", text, expected) from None
    return value


def field(value: dict[str, Any], name: str, kinds: type | tuple[type, ...], expected: str, raw: str) -> Any:
    """A field of an object, of one of these types. A bool is never a number.

    Raises:
        MalformedReply: it is missing or of another type.
    """
    got, wanted = value.get(name), kinds if isinstance(kinds, tuple) else (kinds,)
    if not isinstance(got, wanted) or (isinstance(got, bool) and bool not in wanted):
        raise malformed(f"field {name!r} of the reply is missing or of the wrong type", raw, expected, got)
    return got


def label(text: str, options: tuple[str, ...], raw: str) -> str:
    """One of ``options``, whatever its case, its hyphens and the space, quotes or Markdown around it; "N/A" is NA.

    Raises:
        MalformedReply: it is none of them.
    """
    wanted = " ".join(text.replace("_", " ").replace("-", " ").strip().strip(" \n\t\"'`.*").casefold().split())
    wanted = "na" if wanted == "n/a" else wanted
    for option in options:
        if option.casefold() == wanted:
            return option
    raise malformed("the reply is not a known label", raw, f"one of {', '.join(options)}", text)
