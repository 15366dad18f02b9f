"""What LlamaIndex carries, read as a conversation with documents. Nothing here judges; the core checks what it gets."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from llama_index.core.llms import ChatMessage
from llama_index.core.memory import BaseMemory
from llama_index.core.schema import BaseNode, MetadataMode, NodeWithScore, QueryBundle
from llama_index.rag_intrinsics import _marks
from llama_index.rag_intrinsics.query import ConversationQuery

from intrinsics_core import InvalidInput

History = Sequence[ChatMessage] | None
Calls = Sequence[Mapping[str, Any]]  # of tools, that were made for an answer, as the core takes them

_ROLES = {"function": "tool", "chatbot": "assistant", "model": "assistant"}  # other names for the same speakers


def conversation(
    query: str | QueryBundle | None, answer: str | None = None, history: History = None, calls: Calls = ()
) -> list[dict[str, Any]]:
    """The turns as the core takes them: the history (a :class:`ConversationQuery` brings its own), the question where
    there is one, and the answer where there is one, with the tool calls that were made for it.

    Raises:
        InvalidInput: the query is no question.
    """
    if query is not None and not isinstance(query, str | QueryBundle):
        raise InvalidInput("query is not a question", got=type(query).__name__,
                           expected="text, or ConversationQuery(question, chat_history=...)")  # fmt: skip
    if history is None:
        history = given_history(query)
    turns: list[dict[str, Any]] = [
        {"role": _ROLES.get(m.role.value, m.role.value), "content": m.content or ""} for m in history
    ]
    if query is not None:
        asked = {"role": "user", "content": query if isinstance(query, str) else query.query_str}
        if turns[-1:] != [asked]:  # an agent's memory holds the question already
            turns.append(asked)
    if answer is not None:
        turns.append({"role": "assistant", "content": answer} | ({"tool_calls": list(calls)} if calls else {}))
    return turns


def given_history(query: str | QueryBundle | None) -> Sequence[ChatMessage]:
    """The turns that the query itself brings."""
    return query.chat_history if isinstance(query, ConversationQuery) else ()


def remembered(query: str | QueryBundle | None, memory: BaseMemory | None) -> Sequence[ChatMessage]:
    """The turns before the question: the query's own, else those of the memory."""
    return given_history(query) or (memory.get() if memory else ())


async def aremembered(query: str | QueryBundle | None, memory: BaseMemory | None) -> Sequence[ChatMessage]:
    """Like :func:`remembered`, without blocking the event loop."""
    return given_history(query) or (await memory.aget() if memory else ())


def text_of(node: NodeWithScore) -> str:
    """The node's own text, which offsets count in: no metadata in front of it."""
    return node.node.get_content(metadata_mode=MetadataMode.NONE)


def passages(
    nodes: Sequence[NodeWithScore], shown: MetadataMode = MetadataMode.LLM, *, asked: str | None = None
) -> list[dict[str, Any]]:
    """The nodes as the core takes documents, in order.

    Args:
        shown: which metadata is read beside the text: what LLMs are shown of the node, or what is embedded of it.
        asked: the question that they were retrieved for, where their scores are to count.
    """
    return [
        {
            "text": text_of(item),
            "id": item.node.node_id,
            "title": title_of(item.node, shown),
            "score": None if asked is None else _finite(_marks.retrievers_score(item, asked)),
            "metadata": item.node.metadata,
        }
        for item in nodes
    ]


def title_of(node: BaseNode, shown: MetadataMode) -> str | None:
    """What is shown of a node besides its text: its title, then a line for each other key, in the node's own words.

    A key that the node excludes in this mode is not read, nor are those that our components add.
    """
    if not node.metadata or shown is MetadataMode.NONE or "{metadata_str}" not in getattr(node, "text_template", _ALL):
        return None
    hidden = {*_marks.KEYS, *_excluded(node, shown)}
    metadata = {key: value for key, value in node.metadata.items() if key not in hidden}
    title = metadata.pop("title", None)
    if title is not None and not isinstance(title, str):
        metadata["title"], title = title, None
    lines = [node.metadata_template.format(key=key, value=str(value)) for key, value in metadata.items()]
    return "\n".join([title, *lines] if title else lines) or None


_ALL = "{metadata_str}"


def _excluded(node: BaseNode, shown: MetadataMode) -> Sequence[str]:
    if shown is MetadataMode.LLM:
        return node.excluded_llm_metadata_keys
    return node.excluded_embed_metadata_keys if shown is MetadataMode.EMBED else ()


def _finite(score: float | None) -> float | None:
    """Stores give not-a-number for the cosine of an empty vector: that is no score."""
    return float(score) if score is not None and math.isfinite(score) else None


def distinct(nodes: Iterable[NodeWithScore]) -> list[NodeWithScore]:
    """Each node once, where it stands first: an answer rests on a passage, not on how often it was found. One id may
    name several passages.
    """
    found: dict[tuple[str, str], NodeWithScore] = {}
    for item in nodes:
        found.setdefault((item.node.node_id, text_of(item)), item)
    return list(found.values())


def required(query: str | QueryBundle | None, intrinsic: str) -> str | QueryBundle:
    if query is None:
        raise InvalidInput("query_str= or query_bundle= is missing", intrinsic=intrinsic, expected="the question")
    return query


def asked_in(query: str | QueryBundle) -> str:
    """The plain question."""
    return query if isinstance(query, str) else query.query_str
