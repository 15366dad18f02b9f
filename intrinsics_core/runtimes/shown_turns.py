"""Turns for chat templates that insist on an order: some want user and assistant to alternate, some no system turn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

from intrinsics_core.protocol.task import Message

Turns = Literal["as given", "alternating", "no system"]
"""From the usual way to the strictest: each level keeps to what the one before it keeps to."""

LEVELS: tuple[Turns, ...] = get_args(Turns)


def shown_turns(messages: Sequence[Message], level: Turns) -> list[Message]:
    """The messages as a template of that level takes them. No text is lost.

    Args:
        messages: the turns, in order.
        level: ``"alternating"`` (Mistral): turns of one role that follow each other are one turn, so that what is asked
            of the conversation stands at the end of the user's last turn. ``"no system"`` (Gemma): the system turn also
            stands at the beginning of the user's first turn.

    Returns:
        The turns, with a blank line between texts that were merged.
    """
    if level == "as given":
        return list(messages)
    made: list[Message] = []
    for message in messages:
        role = "user" if level == "no system" and message.role in ("system", "developer") else message.role
        if made and made[-1].role == role:
            made[-1] = Message(role, f"{made[-1].content}\n\n{message.content}")
        else:
            made.append(Message(role, message.content))
    return made
