"""The turns of a conversation as a model may see them."""

from __future__ import annotations

from intrinsics_core.protocol.task import Message, Task
from intrinsics_core.text.markup import defuse


def conversation(task: Task) -> tuple[Message, ...]:
    """All turns, defused."""
    return tuple(Message(m.role, defuse(m.content)) for m in task.messages)


def to_last_question(task: Task) -> tuple[Message, ...]:
    """The conversation up to and including the last user turn."""
    last = max((i for i, m in enumerate(task.messages) if m.role == "user"), default=len(task.messages) - 1)
    return conversation(task)[: last + 1]
