"""What an agent has retrieved: the documents among the messages of its state.

A tool retrieves where its artifact is a list of documents (``create_retriever_tool(..., response_format=
"content_and_artifact")``), or where the user names it: its text is then a document too. What any other tool says, such
as "ok" after an email was sent, is no document. An empty list is that of a search which found nothing where the tool
says nothing beside it, as LangChain's retriever tools do; a calendar may say "no events" beside one.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Collection, Hashable, Iterable, Sequence
from typing import Any

from langchain_core.documents import Document
from langchain_core.messages import AnyMessage, ToolMessage

from langchain_rag_intrinsics._documents import as_document
from langchain_rag_intrinsics._inputs import calls_made, last_user_turn
from langchain_rag_intrinsics.fusion import identity

Tools = Collection[str] | None

# The names that langchain's todo list and langgraph's supervisors and swarms give their tools.
_ORGANISES = re.compile(r"write_todos|(?:transfer|handoff|hand_off|delegate)_(?:back_)?to_\w+")
_TOLD = 6  # words of a text from which an answer may be taken
_warned: set[str] = set()


def names(tools: Tools | str) -> frozenset[str] | None:
    """Names of tools, one alone or several; None for those that return documents."""
    return None if tools is None else frozenset([tools] if isinstance(tools, str) else tools)


def conversation(messages: Sequence[AnyMessage]) -> list[AnyMessage]:
    """The turns up to the last user turn, as people see them: tools and the calls for them left out."""
    asked = messages[: last_user_turn(messages) + 1]
    return [m for m in asked if not isinstance(m, ToolMessage) and str(m.text).strip()]


def of_message(message: Any, tools: Tools) -> list[Document] | None:
    """The documents that a tool has returned; None where it does not retrieve, or has failed."""
    if not isinstance(message, ToolMessage) or message.status == "error":
        return None
    if tools is not None and message.name not in tools:
        return None
    artifact = message.artifact
    if isinstance(artifact, list | tuple) and (artifact or not str(message.text).strip()):
        found = [as_document(item) for item in artifact]
        if all(document is not None for document in found):
            return [document for document in found if document is not None]
    return _text(message) if tools is not None else None


def retrieved(messages: Sequence[AnyMessage], tools: Tools, fields: Sequence[str] = ()) -> list[Document] | None:
    """Documents that tools have returned since the last user turn, each once; None where none has retrieved.

    ``fields`` is the metadata that a judge is shown beside their texts.
    """
    turn = messages[last_user_turn(messages) + 1 :]
    lists = [found for message in turn if (found := of_message(message, tools)) is not None]
    if not lists and tools is None:
        _tell_of_texts(turn)
    return _once((document for found in lists for document in found), fields) if lists else None


def evidence(messages: Sequence[AnyMessage], tools: Tools, fields: Sequence[str] = ()) -> list[Document]:
    """All that an answer may rest on, the newest first: what was retrieved in this turn and in those before it.

    Nothing where only tools that do not retrieve were called in this turn: the answer rests on what they said, and
    earlier documents do not tell whether that is so. ``fields`` is as for :func:`retrieved`.
    """
    if retrieved(messages, tools) is None and actions(messages, tools):
        return []
    last = last_user_turn(messages) + 1
    ordered = [*messages[last:], *reversed(messages[:last])]
    found = _once((document for message in ordered for document in of_message(message, tools) or ()), fields)
    if tools is None:
        _tell_of_texts(filter(_informs, messages[last:]) if found else ordered)
    return found


def actions(messages: Sequence[AnyMessage], tools: Tools) -> list[dict[str, Any]]:
    """The tool calls since the last user turn that did something other than retrieve, and did not fail.

    Plans and handoffs are none: what they return says nothing that an answer could rest on.
    """
    turn = messages[last_user_turn(messages) + 1 :]
    found = {m.tool_call_id for m in turn if isinstance(m, ToolMessage) and of_message(m, tools) is not None}
    return [call for call in calls_made(turn) if call["id"] not in found and not _ORGANISES.fullmatch(call["name"])]


def _informs(message: AnyMessage) -> bool:
    """Whether a tool's message says more than that something was done, and is not judged unless the tool is named."""
    return (
        isinstance(message, ToolMessage)
        and of_message(message, None) is None
        and message.status != "error"
        and not _ORGANISES.fullmatch(message.name or "")
        and len(str(message.text).split()) >= _TOLD
    )


def _text(message: ToolMessage) -> list[Document]:
    text = str(message.text)
    return [Document(text, id=message.tool_call_id)] if text.strip() and message.status != "error" else []


def _once(documents: Iterable[Document], fields: Sequence[str]) -> list[Document]:
    first: dict[Hashable, Document] = {}
    for document in documents:
        first.setdefault(identity(document, fields), document)
    return list(first.values())


def _tell_of_texts(messages: Iterable[AnyMessage]) -> None:
    """Once for each tool: that what it says in words is judged only where it is named."""
    for message in messages:
        if isinstance(message, ToolMessage) and message.name and message.name not in _warned:
            _warned.add(message.name)
            logging.getLogger(__name__).warning(
                "the tool %r returned text and no documents, which is not judged: name it (tools=[%r]) where it "
                'retrieves, or let it return documents (response_format="content_and_artifact")',
                message.name,
                message.name,
            )
