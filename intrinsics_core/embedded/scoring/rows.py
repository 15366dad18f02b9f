"""What a row of a table or of a list of values is about: "Tandem" in ``Bike: Tandem; Day: €28.`` and ``Tandem: €28``.

Two rows are told apart by their names alone, so a claim that names one row and has the number of another is wrong,
however many of its words stand there.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from intrinsics_core.text.items import unmarked
from intrinsics_core.text.reading import ReadSentence

_NAME = 8  # words of the name of a row, at the most
_VALUE = re.compile(r"(?:from |about |up to )?[€$£]?\s?\d[\d.,:–-]*+\s?(?:\w+|%)?(?: \w+)?\.?")


class Field(NamedTuple):
    """A line of a list of values ("- double room: 70 euros") below what it is of ("Garden Hotel")."""

    label: str
    of: str


def fields(sentences: Sequence[ReadSentence]) -> dict[int, Field]:
    """The lines of lists of values that stand below something, by the index of their sentence."""
    found = {}
    for i, sentence in enumerate(sentences):
        label, colon, value = unmarked(sentence.own).partition(":")
        if sentence.text and sentence.front and colon and value.strip() and len(label.split()) <= _NAME:
            found[i] = Field(label.casefold(), sentence.front)
    return found


def names_of_rows(sentences: Sequence[str]) -> dict[int, str]:
    """The name of each row, by the index of its sentence.

    Args:
        sentences: those of documents, with the rows of tables in words (`tables.in_words`), and without what they are
            read behind.
    """
    found = {}
    for i, sentence in enumerate(sentences):
        cells = [cell.split(": ", 1) for cell in sentence.rstrip(".").split("; ")]
        if all(len(cell) == 2 for cell in cells):
            name, value = cells[0]
            if cells[1:]:
                found[i] = value
            elif _VALUE.fullmatch(value.strip()):
                found[i] = unmarked(name)
    return {i: name for i, name in found.items() if len(name.split()) <= _NAME}
