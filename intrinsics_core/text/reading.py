"""The sentences of a document as they are read: each says by itself what it means.

Rows of tables and boxes are put in words. An item of a list is read behind what introduces it, and an answer behind its
question: in a passage behind the question as it stands (`as_read`), as evidence of a claim as a statement (`readings`).
What only asks is not read.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from intrinsics_core.text import boxes, tables
from intrinsics_core.text.fences import coded
from intrinsics_core.text.items import behind, in_list, listed
from intrinsics_core.text.outline import outline
from intrinsics_core.text.prose import ended
from intrinsics_core.text.questions import answered, asked, decides, wants


class ReadSentence(NamedTuple):
    """A sentence as it is read.

    text: what models read; "" for nothing. own: for what it may be cited: what it says itself, and of an answer its
    question, too. section: a number that changes where something else begins. front: what introduces the sentence,
    behind which it is read. question: the question before it, which it answers; "" for none.
    """

    text: str
    own: str
    section: int = 0
    front: str = ""
    question: str = ""


def as_read(sentences: Sequence[str], columns: Sequence[int] = ()) -> list[str]:
    """The sentences of one passage as they are read beside a user's question, as many texts as sentences.

    An answer stands behind its question, however it begins: "Is there a gym? On the second floor."

    Args:
        sentences: in order (`layout.laid_out`).
        columns: `outline.columns_of` them; empty: each begins a line.
    """
    found = _read(sentences, columns)
    return [f"{each.question}? {each.text}" if each.question else each.text for each in found]


def readings(sentences: Sequence[str], columns: Sequence[int] = ()) -> list[ReadSentence]:
    """The sentences as evidence of claims, with what each says itself and where something else begins."""
    return [_stated(each) if each.question else each for each in _read(sentences, columns)]


def _stated(answer: ReadSentence) -> ReadSentence:
    """An answer behind its question as a statement. One that says neither yes nor no is not taken for a yes."""
    said = answered(answer.question, answer.text)
    return answer._replace(text=said, own=said)


def _read(sentences: Sequence[str], columns: Sequence[int]) -> list[ReadSentence]:
    said = _in_words(sentences)
    places = outline([text if said[i] else "" for i, text in enumerate(sentences)], columns or [0] * len(sentences))
    found, question = list[ReadSentence](), ReadSentence("", "")
    following = [*sentences[1:], ""][: len(sentences)]
    for text, words, place, after in zip(sentences, said, places, following, strict=True):
        asks = asked(text)
        if asks and (decides(after) or not wants(asks)):
            question = ReadSentence("" if place.introduces else asks, "", place.section)
            found.append(ReadSentence("", "", place.section))
            continue
        read = "" if place.introduces else _behind(place.front, words) if place.front else words
        answers = question.text if read and question.section == place.section else ""
        if words:
            question = ReadSentence("", "")
        found.append(ReadSentence(read, words, place.section, place.front, answers))
    return found


def _in_words(sentences: Sequence[str]) -> list[str]:
    """The sentences with rows of tables and boxes in words. Code stays as it is."""
    rows, code = tables.in_words(sentences), coded(sentences)
    said = boxes.in_words(["" if i in code else row for i, row in enumerate(rows)])
    return [row if i in code else said[i] for i, row in enumerate(rows)]


def _behind(front: str, text: str) -> str:
    return listed(front, text) if in_list(text) else ended(behind(front, text))
