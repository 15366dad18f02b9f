"""References in the text of an answer: ``[n]``, as Haystack's AnswerBuilder finds them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any

from haystack.dataclasses import ChatMessage, TextContent
from haystack_integrations.common.rag_intrinsics.pipeline_input import is_structured, text_of

from intrinsics_core.render.citations import mark_place

Place = tuple[int, int]  # of a sentence in an answer


def marked(reply: ChatMessage, citations: Iterable[Mapping[str, Any]], wrong: Collection[Place]) -> ChatMessage:
    """A copy of the reply with a marker for each citation, except on sentences that were judged ``wrong``.

    n counts the documents from 1, in the order in which they came in. A marker for what stands in a block of code is
    put behind the block. A structured answer stays as it is.
    """
    if is_structured(reply):
        return reply
    text = text_of(reply)
    places: dict[int, set[int]] = {}
    for row in citations:
        begin, end = row["response_begin"], row["response_end"]
        if (begin, end) in wrong:
            continue
        number = row["document_index"] + 1
        if f"[{number}]" not in text[begin : end + _LOOK]:  # the model may have cited it already
            place = mark_place(text, begin + len(_claim(text[begin:end])))
            if place is not None:
                places.setdefault(place, set()).add(number)
    for place in sorted(places, reverse=True):
        marks, rest = "".join(f"[{n}]" for n in sorted(places[place])), text[place:]
        own_line = place > 0 and text[place - 1] == "\n"  # behind a block of code
        marks = f"{marks}\n" if own_line and rest.strip() else marks if own_line else f" {marks}"
        text = f"{text[:place]}{marks}{rest}"
    return with_text(reply, text) if places else reply


def with_text(reply: ChatMessage, text: str) -> ChatMessage:
    """A copy of the reply that says this; tool calls and pictures in it stay."""
    others = [part for part in reply._content if not isinstance(part, TextContent)]
    return replace(reply, _content=[*others, TextContent(text)])


def _claim(sentence: str) -> str:
    """A sentence without what ends it: a marker stands before the full stop, and inside the last cell of a table."""
    before = sentence.rstrip()
    if before.endswith("|"):
        return before[:-1].rstrip()
    return before.rstrip(_STOPS).rstrip()


_STOPS = ".!?…。！？"
_LOOK = 6  # characters after a sentence where a reference to its source may stand: ". [12]"
