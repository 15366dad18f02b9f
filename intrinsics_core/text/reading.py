"""The sentences of a document as they are read: each says by itself what it means.

Rows of tables and boxes are put in words. An item of a list is read behind what introduces it, and an answer behind its
question. What only asks, or only lists what a document is about, is not read.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from intrinsics_core.text import boxes, tables
from intrinsics_core.text.contents import entries
from intrinsics_core.text.items import behind, in_list, listed
from intrinsics_core.text.outline import outline
from intrinsics_core.text.prose import ended
from intrinsics_core.text.questions import answered, asked


class ReadSentence(NamedTuple):
    """A sentence as it is read.

    text: what models read; "" for nothing. own: what the sentence says itself, for which it may be cited. section: a
    number that changes where something else begins. front: what introduces the sentence, behind which it is read.
    """

    text: str
    own: str
    section: int = 0
    front: str = ""


def as_read(sentences: Sequence[str], columns: Sequence[int] = ()) -> list[str]:
    """The sentences of one document as models read them, as many texts as sentences.

    Args:
        sentences: in order (`layout.laid_out`).
        columns: `outline.columns_of` them; empty: each begins a line.
    """
    return [reading.text for reading in readings(sentences, columns)]


def readings(sentences: Sequence[str], columns: Sequence[int] = ()) -> list[ReadSentence]:
    """`as_read`, with what each sentence says itself and where something else begins."""
    said = _in_words(sentences)
    places = outline([text if said[i] else "" for i, text in enumerate(sentences)], columns or [0] * len(sentences))
    found, question = list[ReadSentence](), ReadSentence("", "")
    for text, words, place in zip(sentences, said, places, strict=True):
        if asks := asked(text):
            question = ReadSentence("" if place.introduces else asks, "", place.section)
            found.append(ReadSentence("", "", place.section))
            continue
        if place.introduces:
            read, own = "", words
        elif place.front:
            read, own = _behind(place.front, words), words
        else:
            read = own = words
        if read and question.text and question.section == place.section:
            read = own = answered(question.text, read)
        if words:
            question = ReadSentence("", "")
        found.append(ReadSentence(read, own, place.section, place.front))
    return found


def _in_words(sentences: Sequence[str]) -> list[str]:
    """The sentences without tables of contents, rows of tables and boxes in words."""
    listing = entries(sentences)
    rows = tables.with_first_rows(sentences, tables.in_words(sentences))
    return ["" if i in listing else row for i, row in enumerate(boxes.in_words(rows))]


def _behind(front: str, text: str) -> str:
    return listed(front, text) if in_list(text) else ended(behind(front, text))
