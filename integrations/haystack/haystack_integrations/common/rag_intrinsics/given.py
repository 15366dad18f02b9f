"""What a pipeline carries, read as a conversation with documents. Nothing here judges; the core checks what it gets."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from haystack import Document
from haystack.dataclasses import ChatMessage, TextContent, ToolCallResult

from intrinsics_core import InvalidInput
from intrinsics_core.results import Result

KEY = "rag_intrinsics"  # where verdicts are, in the `meta` of documents and messages


@dataclass(frozen=True)
class Given:
    """One input: turns that end with the question or with an answer to it, and documents."""

    turns: tuple[ChatMessage, ...]
    documents: tuple[Document, ...]

    @property
    def messages(self) -> list[dict[str, str]]:
        """The turns as the core takes them."""
        return [{"role": turn.role.value, "content": text_of(turn)} for turn in self.turns]

    @property
    def passages(self) -> list[dict[str, Any]]:
        """The documents as the core takes them."""
        return [
            {"text": d.content or "", "id": d.id, "title": _title(d), "metadata": d.meta}
            for d in self.sources
        ]  # fmt: skip

    @property
    def sources(self) -> list[Document]:
        """The documents, each once: retrievers that are joined find the same one, and its id is a hash of it."""
        found: dict[str, Document] = {}
        for document in self.documents:
            found.setdefault(document.id, document)
        return list(found.values())


def read(
    intrinsic: str,
    query: str,
    documents: Iterable[Document] | None,
    history: Iterable[ChatMessage] | None,
    reply: ChatMessage | None = None,
) -> Given:
    """A component's inputs as one input.

    Raises:
        InvalidInput: names the input that cannot be read.
    """
    if not isinstance(query, str):
        raise InvalidInput("query is not text", intrinsic=intrinsic, expected="a string", got=type(query).__name__)
    turns = [*_all("history", history, ChatMessage, intrinsic), ChatMessage.from_user(query)]
    return Given(
        tuple(turns if reply is None else [*turns, reply]), tuple(_all("documents", documents, Document, intrinsic))
    )


def as_replies(replies: Sequence[str] | Sequence[ChatMessage] | None, intrinsic: str) -> list[ChatMessage]:
    """What generators return, as messages."""
    if isinstance(replies, str):
        raise InvalidInput("replies is not a list", intrinsic=intrinsic, expected="a list of replies", got="str")
    given = [ChatMessage.from_assistant(reply) if isinstance(reply, str) else reply for reply in replies or ()]
    return _all("replies", given, ChatMessage, intrinsic)


def text_of(message: ChatMessage) -> str:
    """The text of a turn; what tools returned, where it is a tool's."""
    return "\n".join(message.texts or map(text_of_result, message.tool_call_results))


def text_of_result(result: ToolCallResult) -> str:
    """The text that a tool returned; pictures and files have none."""
    if isinstance(result.result, str):
        return result.result
    return "\n".join(part.text for part in result.result if isinstance(part, TextContent))


def verdict(meta: dict[str, Any], intrinsic: str, value: dict[str, Any]) -> dict[str, Any]:
    """A copy of ``meta`` with a verdict beside those that are there."""
    return {**meta, KEY: {**(meta.get(KEY) or {}), intrinsic: value}}


def judged(given: Given, rows: Iterable[Any], intrinsic: str, result: Result) -> list[Document]:
    """Copies of the documents that the rows name, in the rows' order, each with its score and verdict.

    The score is the caller's own where a fallback stands in for a verdict without one.
    """
    sources = given.sources
    why = {} if result.degraded is None else {"degraded": result.degraded}
    copies = []
    for row in rows:
        document = sources[row.index]
        meta = verdict(document.meta, intrinsic, row.model_dump(mode="json", exclude={"document_id"}) | why)
        copies.append(replace(document, meta=meta, score=document.score if row.score is None else row.score))
    return copies


def _all(name: str, values: Any, kind: type[Any], intrinsic: str) -> list[Any]:
    found = [] if values is None else list(values)
    for index, value in enumerate(found):
        if not isinstance(value, kind):
            raise InvalidInput(f"{name}[{index}] is no {kind.__name__}", intrinsic=intrinsic,
                               expected=f"a list of {kind.__name__}", got=type(value).__name__)  # fmt: skip
    return found


def _title(document: Document) -> str | None:
    found = document.meta.get("title")
    return found if isinstance(found, str) else None
