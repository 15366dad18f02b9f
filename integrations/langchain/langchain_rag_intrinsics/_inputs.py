"""What a chain carries, read as a conversation with documents. Nothing here judges; the core checks what it gets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from numbers import Real
from typing import Any

from langchain_core.documents import Document
from langchain_core.messages import AIMessage, BaseMessage, ChatMessage, HumanMessage, convert_to_messages
from langchain_core.prompt_values import PromptValue

from intrinsics_core import InvalidInput
from intrinsics_core.intrinsics import TABLE

# The names that LangChain's own chains, tutorials and compressors use.
QUESTION = ("question", "query", "input")
HISTORY = ("chat_history", "history")
DOCUMENTS = ("documents", "context")
ANSWER = ("answer", "response")
# Where retrievers leave their scores, higher is better.
SCORES = ("relevance_score", "score")

_ROLES = {
    "human": "user",
    "ai": "assistant",
    "AIMessageChunk": "assistant",
    "HumanMessageChunk": "user",
    "system": "system",
    "SystemMessageChunk": "system",
    "tool": "tool",
    "function": "tool",
}


@dataclass(frozen=True)
class Given:
    """One input: a conversation, the answer where it ends with one, and documents."""

    turns: tuple[BaseMessage, ...]
    documents: tuple[Document, ...] = ()

    @property
    def answer(self) -> AIMessage | None:
        last = self.turns[-1] if self.turns else None
        return last if isinstance(last, AIMessage) else None

    @property
    def messages(self) -> list[dict[str, str]]:
        """The turns as the core takes them."""
        return [{"role": _role(turn), "content": str(turn.text)} for turn in self.turns]

    @property
    def passages(self) -> list[dict[str, Any]]:
        """The documents as the core takes them."""
        return [
            {"text": d.page_content, "id": d.id, "title": title(d), "score": score, "metadata": d.metadata}
            for d, score in zip(self.documents, scores(self.documents), strict=True)
        ]


def read(value: Any, intrinsic: str) -> Given:
    """A chain's value as an input.

    Args:
        value: a question; a message; a list of messages; or a mapping with ``messages`` (a whole conversation), or
            ``question`` (also ``query``, ``input``) and optionally ``chat_history``; with ``documents`` (also
            ``context``) and ``answer`` (also ``response``) where there are any.
        intrinsic: the name used in errors.

    Raises:
        InvalidInput: names the field.
    """
    documents = _first(value, DOCUMENTS) if isinstance(value, Mapping) else None
    if documents is None and (record := TABLE.get(intrinsic)) and record.needs_documents:
        raise InvalidInput("the input has no documents", intrinsic=intrinsic,
                           expected=f"a list, maybe empty, as one of {', '.join(map(repr, DOCUMENTS))}")  # fmt: skip
    if not isinstance(value, Mapping):
        return Given(_turns(value, intrinsic, "input"))
    if value.get("messages") is not None:
        turns = _turns(value["messages"], intrinsic, "messages")
    else:
        question = _first(value, QUESTION)
        turns = _turns(_first(value, HISTORY) or (), intrinsic, "chat_history")
        turns += _turns(question, intrinsic, "question") if question is not None else ()
    answer = _first(value, ANSWER)
    if answer is not None:
        turns += (as_answer(answer, intrinsic),)
    if not turns:
        raise InvalidInput(
            "the input has neither messages nor a question",
            intrinsic=intrinsic,
            expected=f"'messages', or one of {', '.join(map(repr, QUESTION))}",
            got=f"the keys {', '.join(map(repr, value)) or '(none)'}",
        )
    return Given(turns, as_documents(documents, intrinsic))


def as_answer(value: Any, intrinsic: str) -> AIMessage:
    """An answer as a message."""
    if isinstance(value, AIMessage):
        return value
    if isinstance(value, str):
        return AIMessage(value)
    raise InvalidInput("answer is neither text nor an AI message", intrinsic=intrinsic,
                       expected="a string or AIMessage", got=type(value).__name__)  # fmt: skip


def as_documents(value: Any, intrinsic: str) -> tuple[Document, ...]:
    """Documents from a list of documents or texts, or from one text."""
    if value is None:
        return ()
    if isinstance(value, str | Document):
        value = [value]
    if isinstance(value, Mapping) or not isinstance(value, Iterable):
        raise InvalidInput("documents is not a list", intrinsic=intrinsic, expected="a list of Document",
                           got=type(value).__name__)  # fmt: skip
    return tuple(_document(item, i, intrinsic) for i, item in enumerate(value))


def title(document: Document) -> str | None:
    """The document's title, where its metadata has one."""
    found = document.metadata.get("title")
    return found if isinstance(found, str) else None


def scores(documents: Sequence[Document]) -> list[float | None]:
    """The retriever's scores, by the first of the names that all documents have a finite number under; else None each.

    One name for all: scores of two names are not on one scale.
    """
    for name in SCORES:
        found = [_number(document.metadata.get(name)) for document in documents]
        if None not in found:
            return found
    return [None] * len(documents)


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, Real):  # Real: NumPy's numbers too
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if isfinite(number) else None


def _document(value: Any, index: int, intrinsic: str) -> Document:
    if isinstance(value, Document):
        return value
    if isinstance(value, str):
        return Document(value)
    raise InvalidInput(f"documents[{index}] is not a document", intrinsic=intrinsic, expected="a Document or text",
                       got=type(value).__name__)  # fmt: skip


def _first(value: Mapping[str, Any], names: Sequence[str]) -> Any:
    return next((value[name] for name in names if value.get(name) is not None), None)


def _turns(value: Any, intrinsic: str, name: str) -> tuple[BaseMessage, ...]:
    if isinstance(value, str):
        return (HumanMessage(value),)
    if isinstance(value, BaseMessage):
        return (value,)
    try:
        if isinstance(value, PromptValue | Sequence) and not isinstance(value, bytes):
            return tuple(convert_to_messages(value))
    except (ValueError, NotImplementedError, TypeError) as error:
        raise InvalidInput(f"{name} holds something that is no message: {error}", intrinsic=intrinsic,
                           expected="a list of messages") from error  # fmt: skip
    raise InvalidInput(f"{name} cannot be read", intrinsic=intrinsic, expected="text or a list of messages",
                       got=type(value).__name__)  # fmt: skip


def _role(turn: BaseMessage) -> str:
    return turn.role if isinstance(turn, ChatMessage) else _ROLES.get(turn.type, turn.type)
