"""References in the text of an answer: ``[n]``, as Haystack's AnswerBuilder finds them."""

from collections.abc import Iterable, Mapping
from typing import Any

from intrinsics_core.render.citations import mark_place


def marked(text: str, citations: Iterable[Mapping[str, Any]]) -> str:
    """The text with a marker for each citation.

    n counts the documents from 1, in the order in which they came in. A marker for what stands in a block of code is
    put behind the block.
    """
    places: dict[int, set[int]] = {}
    for row in citations:
        begin, end, number = row["response_begin"], row["response_end"], row["document_index"] + 1
        if f"[{number}]" not in text[begin : end + _LOOK]:  # the model may have cited it already
            place = mark_place(text, begin + len(_claim(text[begin:end])))
            if place is not None:
                places.setdefault(place, set()).add(number)
    for place in sorted(places, reverse=True):
        marks, rest = "".join(f"[{n}]" for n in sorted(places[place])), text[place:]
        own_line = place > 0 and text[place - 1] == "\n"  # behind a block of code
        marks = f"{marks}\n" if own_line and rest.strip() else marks if own_line else f" {marks}"
        text = f"{text[:place]}{marks}{rest}"
    return text


def _claim(sentence: str) -> str:
    """A sentence without what ends it: a marker stands before the full stop, and inside the last cell of a table."""
    before = sentence.rstrip()
    return before[:-1].rstrip() if before.endswith("|") else before.rstrip(_STOPS).rstrip()


_STOPS = ".!?…。！？"
_LOOK = 6  # characters after a sentence where a reference to its source may stand: ". [12]"
