"""What an Agent's answer is judged by: the documents of its state, and what tools said."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Sequence

from haystack import Document
from haystack.dataclasses import ChatMessage, ToolCallResult
from haystack_integrations.common.rag_intrinsics.pipeline_input import text_of_result

from intrinsics_core.chains.fields import object_in

_FIELDS = frozenset(("id", "content", "blob", "embedding"))  # of a document that Haystack wrote
_warned: set[str] = set()


def evidence(
    documents: Sequence[Document],
    turn: Sequence[ChatMessage],
    before: Sequence[ChatMessage],
    tools: Collection[str] | None,
) -> list[Document]:
    """The documents, and behind them what tools said in this turn and before it, each text once.

    Args:
        documents: those of the Agent's state.
        turn: the messages since the last user turn.
        before: the messages up to it.
        tools: whose texts count. None for all; beside documents only those that retrieve, for what another tool says
            may be the words of a model.
    """
    results, earlier = _results(turn), _results(before)[::-1]
    if not any(map(_text, documents)):  # pictures have no text
        return _once([], _all_said([*results, *earlier], tools))
    if tools is not None:
        others = [result for result in results if not _repeats(result, documents)]
        return _once(documents, _all_said([*others, *earlier], tools))
    retrieving = {_name(result) for result in results if _repeats(result, documents)}
    return _once(documents, _all_said(earlier, retrieving))


def tell_of_texts(documents: Sequence[Document], turn: Sequence[ChatMessage], tools: Collection[str] | None) -> None:
    """Warn, once for each tool, that what it said beside the documents of the state was not judged by."""
    if tools is not None or not any(map(_text, documents)):
        return
    for result in _results(turn):
        name = _name(result)
        if name not in _warned and text_of_result(result).strip() and not _repeats(result, documents):
            _warned.add(name)
            logging.getLogger(__name__).warning(
                "the tool %r returned text, by which the answer was not judged: documents are in the Agent's state. "
                "Name all tools that the answer may rest on: tools=[%r, ...]",
                name,
                name,
            )


def _results(messages: Iterable[ChatMessage]) -> list[ToolCallResult]:
    return [result for message in messages for result in message.tool_call_results if not result.error]


def _name(result: ToolCallResult) -> str:
    return result.origin.tool_name


def _all_said(results: Iterable[ToolCallResult], tools: Collection[str] | None) -> list[Document]:
    return [each for result in results if tools is None or _name(result) in tools for each in _said(result)]


def _said(result: ToolCallResult) -> list[Document]:
    """What a tool said, as documents: those that it returned, else its text."""
    text = text_of_result(result)
    return _returned(text) or [Document(content=text, meta={"tool": _name(result)})]


def _returned(text: str) -> list[Document]:
    """The documents that a tool returned: Haystack writes them as JSON where the tool has no text of its own."""
    found = object_in(text) if '"embedding"' in text else None
    lists = found.values() if isinstance(found, dict) else [found]
    rows = [row for part in lists if isinstance(part, list) for row in part]
    return [Document.from_dict(row) for row in rows if isinstance(row, dict) and row.keys() >= _FIELDS]


def _text(document: Document) -> str:
    return (document.content or "").strip()


def _repeats(result: ToolCallResult, documents: Iterable[Document]) -> bool:
    """Whether what a tool said has the text of one of the documents in it."""
    texts = [_text(document) for document in documents if _text(document)]
    return any(text in _text(said) for said in _said(result) for text in texts)


def _once(documents: Sequence[Document], more: Iterable[Document]) -> list[Document]:
    """The documents as they are, and those of the others that have another text."""
    known, found = {"", *map(_text, documents)}, list(documents)
    for each in more:
        if _text(each) not in known:
            known.add(_text(each))
            found.append(each)
    return found
