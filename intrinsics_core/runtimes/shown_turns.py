"""Turns for chat templates that insist on an order: some want user and assistant to alternate, some no system turn. And
documents as chat templates take them, or in the messages for models whose template has no place for them.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Literal, get_args

from intrinsics_core.protocol.task import Document, Message

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


# --- documents --------------------------------------------------------------------------------------------------------


# The words with which the chat templates of Granite 4 show documents: its adapters know them, other models read them.
_BEFORE = (
    "You are a helpful assistant with access to the following documents. You may use one or more documents to assist "
    "with the user query.\n\nYou are given a list of documents within <documents></documents> XML tags:\n<documents>"
)
_AFTER = (
    "\n</documents>\n\nWrite the response to the user's input by strictly aligning with the facts in the provided "
    "documents. If the information needed to answer the question is not available in the documents, inform the user "
    "that the question cannot be answered based on the available data."
)


def as_key(documents: Sequence[Document]) -> list[dict[str, str]]:
    """For the request's ``documents``."""
    return [
        {"doc_id": d.id or str(i), "text": d.text} | ({"title": d.title} if d.title else {})
        for i, d in enumerate(documents)
    ]


def into_messages(messages: Sequence[Message], documents: Sequence[Document]) -> list[Message]:
    """The messages with the documents in the system turn, one JSON object a line; a system turn that is there goes
    before them.
    """
    # Escaped, no text inside can end the list.
    lines = (json.dumps(row, ensure_ascii=False).replace("<", "\\u003c") for row in as_key(documents))
    shown = "\n".join([_BEFORE, *lines]) + _AFTER
    if messages and messages[0].role in ("system", "developer"):
        first, *rest = messages
        return [Message(first.role, f"{first.content}\n\n{shown}"), *rest]
    return [Message("system", shown), *messages]
