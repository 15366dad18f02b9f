"""What LlamaIndex carries, read as a conversation with documents. Nothing here judges; the core checks what it gets."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from llama_index.core.llms import ChatMessage
from llama_index.core.schema import MetadataMode, NodeWithScore, QueryBundle
from llama_index.rag_intrinsics.query import ConversationQuery

from intrinsics_core import InvalidInput

_ROLES = {"function": "tool", "chatbot": "assistant", "model": "assistant"}  # other names for the same speakers


def conversation(
    query: str | QueryBundle | None, answer: str | None = None, history: Sequence[ChatMessage] | None = None
) -> list[dict[str, str]]:
    """The turns as the core takes them: the history (a :class:`ConversationQuery` brings its own), the question where
    there is one, and the answer where there is one.
    """
    if history is None:
        history = query.chat_history if isinstance(query, ConversationQuery) else ()
    turns = [{"role": _ROLES.get(m.role.value, m.role.value), "content": m.content or ""} for m in history]
    if query is not None:
        turns.append({"role": "user", "content": query if isinstance(query, str) else query.query_str})
    if answer is not None:
        turns.append({"role": "assistant", "content": answer})
    return turns


def text_of(node: NodeWithScore) -> str:
    """The node's own text, which offsets count in: no metadata in front of it."""
    return node.node.get_content(metadata_mode=MetadataMode.NONE)


def passages(nodes: Sequence[NodeWithScore]) -> list[dict[str, Any]]:
    """The nodes as the core takes documents, in order."""
    found = []
    for item in nodes:
        node = item.node
        title = node.metadata.get("title")
        found.append(
            {
                "text": text_of(item),
                "id": node.node_id,
                "title": title if isinstance(title, str) else None,
                "metadata": node.metadata,
            }
        )
    return found


def distinct(nodes: Iterable[NodeWithScore]) -> list[NodeWithScore]:
    """Each node once: an answer rests on a passage, not on how often it was found."""
    return list({item.node.node_id: item for item in reversed(list(nodes))}.values())[::-1]


def required(query: str | QueryBundle | None, intrinsic: str) -> str | QueryBundle:
    if query is None:
        raise InvalidInput("there is no query", intrinsic=intrinsic, expected="query_bundle= or query_str=")
    return query
