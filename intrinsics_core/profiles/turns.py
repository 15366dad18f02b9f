"""Turns, documents, and sentences with numbers, as a model may see them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from intrinsics_core.protocol.task import Document, Message, Task
from intrinsics_core.text.markup import Defuse, defuse, header
from intrinsics_core.text.sentences import Span


def conversation(task: Task) -> tuple[Message, ...]:
    """All turns, defused."""
    return tuple(Message(m.role, defuse(m.content)) for m in task.messages)


def cut_to_last_question(task: Task) -> Task:
    """The task with the conversation up to and including the last user turn."""
    last = max((i for i, m in enumerate(task.messages) if m.role == "user"), default=len(task.messages) - 1)
    return replace(task, messages=task.messages[: last + 1])


def to_last_question(task: Task) -> tuple[Message, ...]:
    """The conversation up to and including the last user turn, defused."""
    return conversation(cut_to_last_question(task))


def tagged(sentences: Sequence[Span], prefix: str, start: int = 0, defuse: Defuse = defuse) -> str:
    """Sentences with their numbers before them and one space between, as in the adapters' training data."""
    return " ".join(f"<{prefix}{start + i}> {defuse(s.text)}" for i, s in enumerate(sentences))


def shown_documents(task: Task, texts: Iterable[str], defuse: Defuse = defuse) -> tuple[Document, ...]:
    """Documents as the model sees them, with these texts; templates put ids into role headers as they are."""
    return tuple(
        replace(
            document,
            text=text,
            id=header(task.document_id(i), defuse),
            title=None if document.title is None else defuse(document.title),
            metadata={},
        )
        for i, (document, text) in enumerate(zip(task.documents, texts, strict=True))
    )
