"""What an agent has retrieved: the documents among the messages of its state.

A tool retrieves where its artifact is a list of documents (``create_retriever_tool(..., response_format=
"content_and_artifact")``), or where the user names it: its text is then a document too. What any other tool says, such
as "ok" after an email was sent, is no document. An empty list is that of a search which found nothing where the tool
says nothing beside it, as LangChain's retriever tools do; a calendar may say "no events" beside one. Where a named tool
says more than that beside an empty list, its text is the document.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from typing import Any

from langchain_core.documents import Document
from langchain_core.messages import AnyMessage, ToolMessage

from intrinsics_core.chains.evidence import only_acknowledges
from intrinsics_core.replies.placeholders import says_nothing
from langchain_rag_intrinsics._documents import as_document
from langchain_rag_intrinsics._inputs import calls_in, calls_made, last_user_turn
from langchain_rag_intrinsics.fusion import identity

Tools = Collection[str] | None

_FOUND_NOTHING = re.compile(
    r"(?:sorry\W{1,3})?(?:(?:no|0|zero) (?:[\w-]{1,20} ){0,3}?(?:results?|documents?|match(?:es)?|hits?|entry|entries"
    r"|events?|records?|rows?|items?|articles?|pages?|files?|passages?|data|information)|nothing|not)"
    r"(?: (?:was|were|is|are|has been|have been|could be))?(?: (?:found|available|returned|matched))?"
    r"(?: (?:for|in|on|about|matching|to) [^.!?:\n]{1,80})?[.!]?"
)

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
    if isinstance(artifact, list | tuple) and (artifact or _says_nothing(str(message.text), tools)):
        found = [as_document(item) for item in artifact]
        if all(document is not None for document in found):
            return [document for document in found if document is not None]
    return _text(message) if tools is not None else None


def retrieved(messages: Sequence[AnyMessage], tools: Tools, fields: Sequence[str] = ()) -> list[Document] | None:
    """Documents that tools have returned since the last user turn, each once; None where none has retrieved.

    ``fields`` is the metadata that a judge is shown beside their texts.
    """
    turn = _turn(messages)
    _tell_of_texts(turn, tools)
    return _once(_documents(turn, tools), fields) if _searched(turn, tools) else None


def evidence(messages: Sequence[AnyMessage], tools: Tools, fields: Sequence[str] = ()) -> list[Document]:
    """All that an answer may rest on, the newest first: what was retrieved in this turn and in those before it.

    Nothing where only tools that do not retrieve told something in this turn: the answer rests on what they said, and
    earlier documents do not tell whether that is so. ``fields`` is as for :func:`retrieved`.
    """
    turn = _turn(messages)
    # A tool's message that ended the run is the answer itself.
    _tell_of_texts(turn[:-1] if turn and isinstance(turn[-1], ToolMessage) else turn, tools)
    if told_otherwise(messages, tools) and not _searched(turn, tools):
        return []
    before = messages[: len(messages) - len(turn)]
    found = _once(_documents([*turn, *reversed(before)], tools), fields)
    if not found:
        _tell_of_texts(before, tools)
    return found


def actions(messages: Sequence[AnyMessage], tools: Tools) -> list[dict[str, Any]]:
    """The tool calls since the last user turn that did something other than retrieve, and did not fail."""
    turn = _turn(messages)
    found = {m.tool_call_id for m in turn if isinstance(m, ToolMessage) and of_message(m, tools) is not None}
    return [call for call in calls_made(turn) if call["id"] not in found]


def told_otherwise(messages: Sequence[AnyMessage], tools: Tools) -> bool:
    """Whether a tool that does not retrieve told something since the last user turn.

    One that keeps a todo list, or hands the conversation over, only repeats its call.
    """
    return any(not _only_acknowledges(call) for call in actions(messages, tools))


def _turn(messages: Sequence[AnyMessage]) -> Sequence[AnyMessage]:
    """What came since the last user turn."""
    return messages[last_user_turn(messages) + 1 :]


def _searched(messages: Iterable[AnyMessage], tools: Tools) -> bool:
    return any(of_message(message, tools) is not None for message in messages)


def _documents(messages: Iterable[AnyMessage], tools: Tools) -> Iterator[Document]:
    return (document for message in messages for document in of_message(message, tools) or ())


def _only_acknowledges(call: dict[str, Any]) -> bool:
    return only_acknowledges(call["name"], call["args"], call["result"])


def _says_nothing(text: str, tools: Tools) -> bool:
    """Whether the text beside an empty list leaves it the list of a search that found nothing."""
    if not text.strip() or tools is None:
        return not text.strip()
    return says_nothing(text) or _FOUND_NOTHING.fullmatch(text.strip().casefold()) is not None


def _is_empty_list(artifact: Any) -> bool:
    return isinstance(artifact, list | tuple) and not artifact


def _text(message: ToolMessage) -> list[Document]:
    text = str(message.text)
    return [Document(text, id=message.tool_call_id)] if text.strip() and message.status != "error" else []


def _once(documents: Iterable[Document], fields: Sequence[str]) -> list[Document]:
    first: dict[Hashable, Document] = {}
    for document in documents:
        first.setdefault(identity(document, fields), document)
    return list(first.values())


def _tell_of_texts(messages: Sequence[AnyMessage], tools: Tools) -> None:
    """Once for each tool: that what it says in words is judged only where it is named."""
    if tools is not None:
        return
    results = [m for m in messages if isinstance(m, ToolMessage) and m.name and m.status != "error"]
    retrieving = {str(m.name) for m in results if of_message(m, None) is not None or _is_empty_list(m.artifact)}
    untold = [m for m in results if str(m.name) not in retrieving | _warned]
    silent = {call["id"] for call in calls_in(messages) if _only_acknowledges(call)} if untold else set()
    for message in untold:
        name = str(message.name)
        if name in _warned or message.tool_call_id in silent:
            continue
        _warned.add(name)
        logging.getLogger(__name__).warning(
            "the tool %r returned text and no documents, which is not judged: name it (tools=%r) where it "
            'retrieves, or let it return documents (response_format="content_and_artifact")',
            name,
            [*sorted(retrieving), name],
        )
