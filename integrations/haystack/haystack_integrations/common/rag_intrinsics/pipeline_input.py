"""What a pipeline carries, read as a conversation with documents. Nothing here judges; the core checks what it gets."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from haystack import Document
from haystack.dataclasses import ChatMessage, TextContent, ToolCallResult

from intrinsics_core import InvalidInput
from intrinsics_core.chains.fields import as_lines, object_in
from intrinsics_core.chains.notes import heading
from intrinsics_core.chains.scores import marked, own_score, retrievers_score, verdict_on
from intrinsics_core.chains.transcript import ChatTurn, MadeCall, messages
from intrinsics_core.protocol.results import Result

_FIELDS = frozenset(("id", "content", "blob", "embedding"))  # of a document that Haystack wrote


@dataclass(frozen=True)
class PipelineInput:
    """One input: turns that end with the question or with an answer to it, and documents.

    ``shown`` names the fields of `meta` that the answering model is shown beside the text.
    """

    turns: tuple[ChatTurn, ...]
    documents: tuple[Document, ...]
    shown: tuple[str, ...] = ()

    @cached_property
    def messages(self) -> list[dict[str, Any]]:
        """The turns as the core takes them, with the tool calls that were made for them."""
        return messages(self.turns, [document.content for document in self.documents if document.content])

    @cached_property
    def passages(self) -> list[dict[str, Any]]:
        """The documents as the core takes them."""
        return [passage(document, self.shown, self.question) for document in self.sources]

    @cached_property
    def question(self) -> str:
        """The last turn of the user's."""
        return next((turn.text for turn in reversed(self.turns) if turn.asks), "")

    @cached_property
    def positions(self) -> list[int]:
        """Where the sources are among the documents.

        Retrievers that are joined find the same document, and its id is a hash of it: it counts once. Two texts of one
        id are two documents.
        """
        found: dict[tuple[str, str | None], int] = {}
        for position, document in enumerate(self.documents):
            found.setdefault((document.id, document.content), position)
        return list(found.values())

    @cached_property
    def sources(self) -> list[Document]:
        """The documents, each once."""
        return [self.documents[position] for position in self.positions]

    def as_dict(self, result: Result) -> dict[str, Any]:
        """A result as plain values; positions in it are those of the documents as they came."""
        dump: dict[str, Any] = self.placed(result.model_dump(mode="json"))
        return dump

    def placed(self, value: Any) -> Any:
        """Plain values of the core's with the positions of the documents as they came."""
        return value if len(self.positions) == len(self.documents) else _placed(value, self.positions)

    def judged(self, intrinsic: str, row: Any, result: Any) -> Document:
        """A copy of the document that a row is about, with its verdict in ``meta``, and its score."""
        judged: Document = copy(self.sources[row.index])  # `replace` makes all of it anew, at twice the time
        meta = marked(judged.meta, verdict_on(intrinsic, row, result), judged.score, self.question)
        vars(judged).update(meta=meta, score=own_score(row, result, judged.score))
        return judged


def _placed(value: Any, positions: Sequence[int]) -> Any:
    if isinstance(value, list):
        return [_placed(item, positions) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key: positions[item] if key in ("index", "document_index") else _placed(item, positions)
        for key, item in value.items()
    }


def read(intrinsic: str, query: str, documents: Iterable[Document] | None, history: Iterable[ChatMessage] | None,
         reply: ChatMessage | None = None, shown: Sequence[str] = ()) -> PipelineInput:  # fmt: skip
    """A component's inputs as one input.

    Raises:
        InvalidInput: names the input that cannot be read.
    """
    if not isinstance(query, str):
        raise InvalidInput("query is not text", intrinsic=intrinsic, expected="a string", got=type(query).__name__)
    said = [*_all("history", history, ChatMessage, intrinsic), ChatMessage.from_user(query)]
    return PipelineInput(
        tuple(map(as_turn, said if reply is None else [*said, reply])),
        tuple(_all("documents", documents, Document, intrinsic)),
        tuple(shown),
    )


def passage(document: Document, shown: Sequence[str] = (), asked: str | None = None) -> dict[str, Any]:
    """A document as the core takes it, with the score that its retriever gave it for this question."""
    return {
        "text": document.content or "",
        "id": document.id,
        "title": heading(document.meta, shown),
        "score": retrievers_score(document.score, document.meta, asked),
        "metadata": document.meta,
    }


def as_turn(message: ChatMessage, *, summary: bool = False) -> ChatTurn:
    """A message as a neutral one; a structured answer by its fields."""
    role, text, calls = message.role.value, text_of(message), tuple(map(_call, message.tool_call_results))
    return ChatTurn(role, by_fields(text) if role == "assistant" else text, calls, summary, message)


def as_replies(replies: Sequence[str] | Sequence[ChatMessage] | None, intrinsic: str) -> list[ChatMessage]:
    """What generators return, as messages."""
    if isinstance(replies, str):
        raise InvalidInput("replies is not a list", intrinsic=intrinsic, expected="a list of replies", got="str")
    given = [ChatMessage.from_assistant(reply) if isinstance(reply, str) else reply for reply in replies or ()]
    return _all("replies", given, ChatMessage, intrinsic)


def text_of(message: ChatMessage) -> str:
    """The text of a message; what tools returned, where it is a tool's."""
    return "\n".join(message.texts or map(_result, message.tool_call_results))


def with_text(message: ChatMessage, text: str | None, meta: dict[str, Any]) -> ChatMessage:
    """A copy of the message with other metadata, that says this; tool calls and pictures in it stay. None: its own."""
    if text is None:
        return replace(message, _meta=meta)
    others = [part for part in message._content if not isinstance(part, TextContent)]
    return replace(message, _content=[*others, TextContent(text)], _meta=meta)


def by_fields(answer: str) -> str:
    """An answer as a person would read it: of a JSON object its fields, a line each; any other as it is."""
    found = object_in(answer)
    return "\n".join(as_lines(found)) if isinstance(found, dict) else answer


def is_structured(message: ChatMessage) -> bool:
    """Whether an answer is a JSON object, as generators with a `response_format` write it."""
    return isinstance(object_in(text_of(message)), dict)


def _call(result: ToolCallResult) -> MadeCall:
    said, origin = _result(result), result.origin
    return MadeCall(origin.tool_name, origin.arguments, origin.id, said, result.error, _returned(said))


def _result(result: ToolCallResult) -> str:
    """The text that a tool returned; pictures and files have none."""
    if isinstance(result.result, str):
        return result.result
    return "\n".join(part.text for part in result.result if isinstance(part, TextContent))


def _returned(text: str) -> tuple[Document, ...] | None:
    """The documents that a tool returned: Haystack writes them as JSON where the tool has no text of its own."""
    found = object_in(text) if '"embedding"' in text else None
    lists = found.values() if isinstance(found, dict) else [found]
    rows = [row for part in lists if isinstance(part, list) for row in part]
    return tuple(Document.from_dict(row) for row in rows if isinstance(row, dict) and row.keys() >= _FIELDS) or None


def _all(name: str, values: Any, kind: type[Any], intrinsic: str) -> list[Any]:
    found = [] if values is None else list(values)
    for index, value in enumerate(found):
        if not isinstance(value, kind):
            raise InvalidInput(f"{name}[{index}] is not a {kind.__name__}", intrinsic=intrinsic,
                               expected=f"a list of {kind.__name__}", got=type(value).__name__)  # fmt: skip
    return found
