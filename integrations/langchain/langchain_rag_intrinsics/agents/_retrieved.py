"""What an agent has retrieved for the question it works on."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from langchain_core.documents import Document
from langchain_core.messages import AnyMessage, HumanMessage, ToolMessage


def current_turn(messages: Sequence[AnyMessage]) -> int:
    """Where the last user turn is, or -1."""
    return next((i for i in reversed(range(len(messages))) if isinstance(messages[i], HumanMessage)), -1)


def conversation(messages: Sequence[AnyMessage]) -> list[AnyMessage]:
    """The turns up to the last user turn, as people see them: tools and the calls for them left out."""
    return [m for m in messages[: current_turn(messages) + 1] if not isinstance(m, ToolMessage) and str(m.text).strip()]


def retrieved(messages: Sequence[AnyMessage], tools: Collection[str] | None) -> list[Document] | None:
    """Documents that tools have returned since the last user turn, each once; None where no tool has answered.

    A tool's artifact counts where it is a list of documents, else its text is one document, with the id of the call.

    Args:
        tools: names of the tools that retrieve; None for all.
    """
    found: dict[tuple[bool, str], Document] | None = None
    for message in messages[current_turn(messages) + 1 :]:
        if not isinstance(message, ToolMessage) or message.status == "error":
            continue
        if tools is not None and message.name not in tools:
            continue
        found = {} if found is None else found
        for document in _documents(message):
            key = (False, document.page_content) if document.id is None else (True, document.id)
            found.setdefault(key, document)
    return None if found is None else list(found.values())


def _documents(message: ToolMessage) -> list[Document]:
    artifact = message.artifact
    if isinstance(artifact, list) and all(isinstance(item, Document) for item in artifact):
        return artifact
    text = str(message.text)
    return [Document(text, id=message.tool_call_id)] if text.strip() else []
