"""Sentences that go on in the next chunk.

One chunk ends without an end mark, and the next, of the same title, begins with a small letter and has one. The
rest of the sentence is read behind the chunk that it begins in, and cited where it stands.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from intrinsics_core.protocol.task import Document
from intrinsics_core.text.layout import laid_out

# Headings, items and rows of tables have no end marks either.
_NO_PROSE = ("#", "|", ">", "*", "•", "-")
_ENDS, _CLOSES = (".", "!", "?", "…"), "\"'”’)]"
_FEW = 4  # words of a line that is rather a heading or an entry than half a sentence
_LAST = 400  # characters of a text that its last line is looked for in


def goes_on(before: str, sentence: str) -> bool:
    """Whether a sentence at the end of a text goes on with the first one of another text."""
    _, _, line = before[-_LAST:].rstrip().rpartition("\n")
    if len(line.split()) <= _FEW or line.lstrip().startswith(_NO_PROSE) or not (line[-1].isalnum() or line[-1] == ","):
        return False
    return sentence.lstrip()[:1].islower() and sentence.rstrip().rstrip(_CLOSES).endswith(_ENDS)


def _rest(before: str, after: str) -> str:
    """What the next text has of the last sentence of one; "" where that is whole."""
    if not after.lstrip()[:1].islower():
        return ""
    sentence = laid_out(after)[0].text
    return sentence if goes_on(before, sentence) else ""


def carried_on(documents: Sequence[Document]) -> tuple[Document, ...]:
    """The documents with their last sentences whole."""
    behind = [_rest(one.text, two.text) if one.title == two.title else "" for one, two in pairwise(documents)]
    return tuple(
        replace(each, text=f"{each.text.rstrip()} {rest}") if rest else each
        for each, rest in zip(documents, [*behind, ""], strict=False)
    )
