"""Two texts to the tokens of a model, whatever their length: the source is read in windows, the claim never is cut.

Text from outside is data: a special token that it spells is encoded as the characters that it is written with.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from intrinsics_core._support import cancellation as cancelling
from intrinsics_core.encoders.conventions import BEGIN, END, Special
from intrinsics_core.protocol.errors import ContextTooLong, RuntimeUnavailable
from intrinsics_core.protocol.requests import Read
from intrinsics_core.text.memory import parts

_OVERLAP = 4  # a window shares a quarter of its tokens with the next: what is that short lies in one of them whole
_PART = 200_000  # characters tokenized at a time: a token takes hundreds of bytes until its place is noted
_LEAST = 8  # an eighth of the model's length must be left to the source, or windows would be shreds


@dataclass(frozen=True, slots=True)
class Tokens:
    """One input. ``marked``: (position, begin, end) of each token of the second text, offsets in that text."""

    ids: Sequence[int]
    types: Sequence[int]
    marked: tuple[tuple[int, int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Tokenized:
    """A source, and where in it the tokens that are read begin and end; ``unread`` are those beyond."""

    text: str
    begins: array[int]
    ends: array[int]
    unread: int = 0


@dataclass(frozen=True, slots=True)
class Windowed:
    """The inputs of one pair of texts, one per window of the source, and what they cover of it."""

    inputs: tuple[Tokens, ...]
    read: Read


Encode = Callable[[str], Tokens]  # a window's text to the whole input


class Texts:
    """A model's tokenizer.

    Args:
        folder: holds ``tokenizer.json``, or what transformers makes one of.
        limit: tokens that the model reads at once.
        window: tokens of a source that are read at once.
    """

    def __init__(self, folder: Path, limit: int, window: int) -> None:
        self.limit, self.window = limit, window
        self._tokenizer = _tokenizer(folder)
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._tokenizer.encode_special_tokens = True  # only what is in texts: the ones around them are put by number
        around = self._tokenizer.encode("").ids
        self._specials: dict[Special, list[int]] = {BEGIN: around[:1] if len(around) > 1 else [], END: around[-1:]}
        self._fixed: dict[str, list[int]] = {}

    def pair(self, first: str, second: str) -> Tokens:
        """Two texts as the tokenizer puts them together."""
        found = self._tokenizer.encode(_clean(first), _clean(second))
        marked = tuple(
            (i, *found.offsets[i])
            for i, which in enumerate(found.sequence_ids)
            if which == 1 and _wide(found.offsets[i])
        )
        return _compact(found.ids, found.type_ids, marked)

    def filled(self, template: Sequence[str | Special], source: str, claim: str) -> Tokens:
        """Two texts in a template."""
        ids: list[int] = []
        for piece in template:
            if isinstance(piece, Special):
                ids += self._special(piece)
            elif "{" not in piece:
                if piece not in self._fixed:
                    self._fixed[piece] = self._tokenizer.encode(piece, add_special_tokens=False).ids
                ids += self._fixed[piece]
            else:
                # The parts of a template are put in one by one: a text may hold braces.
                text = "".join(
                    {"source": source, "claim": claim}.get(part, part) for part in piece.replace("{", "}").split("}")
                )
                ids += self._tokenizer.encode(_clean(text), add_special_tokens=False).ids
        return _compact(ids, bytes(len(ids)))

    def _special(self, special: Special) -> list[int]:
        if special in self._specials:
            return self._specials[special]
        return [self.number(special.token)]

    def number(self, token: str) -> int:
        """The number of a token.

        Raises:
            RuntimeUnavailable: there is none.
        """
        number: int | None = self._tokenizer.token_to_id(token)
        if number is None:
            raise RuntimeUnavailable(f"the model's tokenizer lacks the token {token!r}, which models of this kind need")
        return number

    def source(self, text: str, most: int) -> Tokenized:
        """The places of the first ``most`` tokens of a text, of any length."""
        begins, ends, begin, count = array("q"), array("q"), 0, 0
        for part in parts(text, _PART):
            cancelling.check()
            for left, right in self._tokenizer.encode(_clean(part), add_special_tokens=False).offsets:
                if right <= left:
                    continue
                count += 1
                if count <= most:
                    begins.append(begin + left)
                    ends.append(begin + right)
            begin += len(part)
        return Tokenized(text, begins, ends, max(0, count - most))

    def windows(self, source: Tokenized | str, encode: Encode, fixed: str) -> Windowed:
        """The source as a whole where it fits, else in overlapping windows that cover all of it.

        Args:
            source: tokenized; or its text, which is tokenized apart only where it does not fit.
            encode: makes the input of a part of the source.
            fixed: what is never cut, in words for the error: ``"claim"``.

        Raises:
            ContextTooLong: what is never cut leaves too little room.
        """
        if isinstance(source, str):
            whole = encode(source)
            if len(whole.ids) <= min(self.limit, self.window):  # most do: nothing is tokenized twice
                return Windowed((whole,), Read(len(source), len(source)))
            source = self.source(source, sys.maxsize)
        rest = len(encode("").ids)
        room = min(self.limit - rest, self.window)
        if room < min(len(source.begins), self.limit // _LEAST) or rest > self.limit:
            raise ContextTooLong(
                f"the {fixed} is too long for the model, and it is never truncated",
                expected=f"a {fixed} of at most {self.limit - self.limit // _LEAST} tokens, special tokens included",
                got=f"{rest} tokens",
            )
        while True:
            spans = _spans(source, room)
            inputs = tuple(encode(source.text[begin:end]) for begin, end in spans)
            excess = max(len(each.ids) for each in inputs) - self.limit
            if excess <= 0:
                return Windowed(inputs, Read(_covered(spans), len(source.text)))
            room -= excess  # cut in two, a word may take more tokens than it did
            if room < 1:
                raise ContextTooLong("the source cannot be split into windows that fit the model",
                                     expected=f"windows of {self.limit} tokens")  # fmt: skip


def _spans(source: Tokenized, room: int) -> list[tuple[int, int]]:
    """Character ranges of at most ``room`` tokens each; the first begins and the last ends with what is read."""
    count = len(source.begins)
    length = len(source.text) if not source.unread else source.ends[-1] if count else 0
    if count <= room:
        return [(0, length)]
    found, start, step = [], 0, max(1, room - room // _OVERLAP)
    while True:
        stop = min(start + room, count)
        last = stop == count
        found.append((0 if start == 0 else source.begins[start], length if last else source.ends[stop - 1]))
        if last:
            return found
        start += step


def _covered(spans: Sequence[tuple[int, int]]) -> int:
    """Characters that lie in some range; ranges in order of their beginnings."""
    covered = reached = 0
    for begin, end in spans:
        covered += max(0, end - max(begin, reached))
        reached = max(reached, end)
    return covered


def _clean(text: str) -> str:
    """The text with ``?`` for each lone surrogate, which the tokenizer refuses: no place moves."""
    return text.encode("utf-8", "replace").decode()


def _compact(ids: Sequence[int], types: Sequence[int], marked: tuple[tuple[int, int, int], ...] = ()) -> Tokens:
    return Tokens(array("i", ids), bytes(types), marked)  # five bytes a token: a long source has very many


def _wide(span: tuple[int, int]) -> bool:
    return span[1] > span[0]


def _tokenizer(folder: Path) -> Any:
    """The tokenizer of the Rust library, from its file or through transformers, which converts older ones.

    Raises:
        RuntimeUnavailable: there is none.
    """
    from tokenizers import Tokenizer

    file = folder / "tokenizer.json"
    try:
        if file.is_file():
            return Tokenizer.from_file(str(file))
        from transformers import AutoTokenizer

        return AutoTokenizer.from_pretrained(
            str(folder), local_files_only=True, trust_remote_code=False
        ).backend_tokenizer
    except Exception as error:  # the libraries raise bare exceptions
        raise RuntimeUnavailable(f"the model in {folder.name!r} has no tokenizer that can be read ({error})",
                                 expected="tokenizer.json") from error  # fmt: skip
