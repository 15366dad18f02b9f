"""Sentence numbers as an adapter wants them: which text has which number, and where it stands in the caller's own.

Response sentences (the last message) have numbers of their own. Document sentences come first in the numbers of the
context, and the conversation before the last message goes on from there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from intrinsics_core.profiles.turns import tagged
from intrinsics_core.protocol.task import Task
from intrinsics_core.text.markup import Defuse
from intrinsics_core.text.sentences import Span

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
