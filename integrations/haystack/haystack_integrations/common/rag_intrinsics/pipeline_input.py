"""What a pipeline carries, read as a conversation with documents. Nothing here judges; the core checks what it gets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from haystack import Document
from haystack.dataclasses import ChatMessage, TextContent, ToolCallResult

from intrinsics_core import InvalidInput
from intrinsics_core.chains.fields import as_lines, object_in
from intrinsics_core.chains.notes import copy_containers, digest, verdict_in, with_verdicts
from intrinsics_core.chains.transcript import EarlierCalls, asks, by_question, with_earlier_calls
from intrinsics_core.protocol.results import Result

RETRIEVED = "retrieval_score"  # the score that a document came with, in the `meta` of one that we scored


@dataclass(frozen=True)
class PipelineInput:
    """One input: turns that end with the question or with an answer to it, and documents.

    ``shown`` names the fields of `meta` that the answering model is shown beside the text; ``calls`` are the tool calls
    that were made for the answer, as `calls_made` gives them, and ``earlier`` those of earlier turns (`earlier_calls`).
    """

    turns: tuple[ChatMessage, ...]
    documents: tuple[Document, ...]
    shown: tuple[str, ...] = ()
    calls: tuple[dict[str, Any], ...] = ()
    earlier: EarlierCalls = field(default_factory=dict)

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The turns as the core takes them, the answer with the calls that were made for it."""
        turns = with_earlier_calls([{"role": t.role.value, "content": said_in(t)} for t in self.turns], self.earlier)
        if self.calls:
            turns[-1]["tool_calls"] = list(self.calls)
        return turns

    @property
    def passages(self) -> list[dict[str, Any]]:
        """The documents as the core takes them."""
        return [passage(document, self.shown) for document in self.sources]

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


def _placed(value: Any, positions: Sequence[int]) -> Any:
    if isinstance(value, list):
        return [_placed(item, positions) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key: positions[item] if key in ("index", "document_index") else _placed(item, positions)
        for key, item in value.items()
    }


def read(
    intrinsic: str,
    query: str,
    documents: Iterable[Document] | None,
    history: Iterable[ChatMessage] | None,
    reply: ChatMessage | None = None,
    shown: Sequence[str] = (),
) -> PipelineInput:
    """A component's inputs as one input.

    Raises:
        InvalidInput: names the input that cannot be read.
    """
    if not isinstance(query, str):
        raise InvalidInput("query is not text", intrinsic=intrinsic, expected="a string", got=type(query).__name__)
    turns = [*_all("history", history, ChatMessage, intrinsic), ChatMessage.from_user(query)]
    return PipelineInput(
        tuple(turns if reply is None else [*turns, reply]),
        tuple(_all("documents", documents, Document, intrinsic)),
        tuple(shown),
    )


def passage(document: Document, shown: Sequence[str] = ()) -> dict[str, Any]:
    """A document as the core takes it."""
    return {
        "text": document.content or "",
        "id": document.id,
        "title": _title(document, shown),
        "score": retrieval_score(document),
        "metadata": document.meta,
    }


def calls_made(turns: Iterable[ChatMessage], documents: Sequence[Document] = ()) -> list[dict[str, Any]]:
    """The tool calls in these turns that did not fail, as the core takes them.

    A result with the text of a document in it is left out: the judge is shown that text already.
    """
    texts = [document.content for document in documents if document.content]
    calls = []
    for result in (result for turn in turns for result in turn.tool_call_results if not result.error):
        call = {"name": result.origin.tool_name, "arguments": result.origin.arguments}
        said = text_of_result(result)
        calls.append(call if any(text in said for text in texts) else {**call, "result": said})
    return calls


def earlier_calls(turns: Sequence[ChatMessage]) -> dict[int, list[dict[str, Any]]]:
    """The tool calls before the last question that did not fail, by the number of the question, from 0."""
    return by_question(turns, lambda turn: asks(turn.role.value, text_of(turn)), calls_made)


def as_replies(replies: Sequence[str] | Sequence[ChatMessage] | None, intrinsic: str) -> list[ChatMessage]:
    """What generators return, as messages."""
    if isinstance(replies, str):
        raise InvalidInput("replies is not a list", intrinsic=intrinsic, expected="a list of replies", got="str")
    given = [ChatMessage.from_assistant(reply) if isinstance(reply, str) else reply for reply in replies or ()]
    return _all("replies", given, ChatMessage, intrinsic)


def text_of(message: ChatMessage) -> str:
    """The text of a turn; what tools returned, where it is a tool's."""
    return "\n".join(message.texts or map(text_of_result, message.tool_call_results))


def said_in(turn: ChatMessage) -> str:
    """The text of a turn as it is judged: a structured answer by its fields."""
    return by_fields(text_of(turn)) if turn.role.value == "assistant" else text_of(turn)


def by_fields(answer: str) -> str:
    """An answer as a person would read it: of a JSON object its fields, a line each; any other as it is."""
    found = object_in(answer)
    return "\n".join(as_lines(found)) if isinstance(found, dict) else answer


def is_structured(turn: ChatMessage) -> bool:
    """Whether an assistant's turn is a JSON object, as generators with a `response_format` write it."""
    return turn.role.value == "assistant" and isinstance(object_in(text_of(turn)), dict)


def text_of_result(result: ToolCallResult) -> str:
    """The text that a tool returned; pictures and files have none."""
    if isinstance(result.result, str):
        return result.result
    return "\n".join(part.text for part in result.result if isinstance(part, TextContent))


def underscored(intrinsic: str) -> str:
    """An intrinsic's name as a key: ``context_relevance``, which a template can name and a vector store can keep."""
    return intrinsic.replace("-", "_")


def signed(reply: ChatMessage, intrinsic: str, given: PipelineInput, dump: dict[str, Any]) -> ChatMessage:
    """A copy of the reply with a verdict beside those that are there, and with what tells what it is about."""
    verdicts: dict[str, Any] = {underscored(intrinsic): dump}
    if intrinsic in REUSED:
        about = {underscored(intrinsic): digest(said_in(reply), given.passages)}
        verdicts[_ABOUT] = {**verdict_in(reply.meta, _ABOUT), **about}
    return replace(reply, _meta=with_verdicts(reply.meta, verdicts))


def known_verdict(reply: ChatMessage, intrinsic: str, given: PipelineInput) -> Mapping[str, Any]:
    """The verdict on a reply, where it was made for the text that it has now and by these documents; else empty."""
    name = underscored(intrinsic)
    same = verdict_in(reply.meta, _ABOUT).get(name) == digest(said_in(reply), given.passages)
    return verdict_in(reply.meta, name) if same else {}


REUSED = ("hallucination-detection", "audit")  # verdicts that a component behind takes as they are
_ABOUT = "about"  # by intrinsic, the digest of what its verdict is about


def retrieval_score(document: Document) -> float | None:
    """The retriever's score: the document's own, unless a component of ours wrote that one."""
    score, meta = _number(document.score), document.meta
    if score is not None:
        for key in _WRITTEN:
            if key in meta and _number(meta[key]) == score:
                return _number(meta.get(RETRIEVED))
    return score


def scored(document: Document, score: float | None, meta: dict[str, Any]) -> Document:
    """A copy with flat keys in its ``meta``, those without a value left out, and a score where there is one."""
    kept = copy_containers(document.meta)
    for key, value in (*meta.items(), (RETRIEVED, retrieval_score(document))):
        if value is not None:
            kept[key] = value
        elif key != RETRIEVED:
            kept.pop(key, None)  # of an earlier ranking
    return replace(document, meta=kept, score=document.score if score is None else score)


_WRITTEN = ("reranking_score", "context_relevance_score")


def _all(name: str, values: Any, kind: type[Any], intrinsic: str) -> list[Any]:
    found = [] if values is None else list(values)
    for index, value in enumerate(found):
        if not isinstance(value, kind):
            raise InvalidInput(f"{name}[{index}] is not a {kind.__name__}", intrinsic=intrinsic,
                               expected=f"a list of {kind.__name__}", got=type(value).__name__)  # fmt: skip
    return found


def _title(document: Document, shown: Sequence[str]) -> str | None:
    """The title, then a line for each field that the answering model is shown."""
    found = document.meta.get("title")
    title = [found] if isinstance(found, str) and found else []
    fields = [(name, document.meta.get(name)) for name in shown if name != "title"]
    lines = [f"{name}: {value}" for name, value in fields if value is not None]
    return "\n".join([*title, *lines]) or None


def _number(value: Any) -> float | None:
    """A score as a number: stores give NumPy's too. What is none, or NaN, is no score."""
    if value is None:
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return None if number != number else number
