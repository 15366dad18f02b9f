"""What LlamaIndex carries, read as a conversation with documents. Nothing here judges; the core checks what it gets."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from llama_index.core.llms import ChatMessage
from llama_index.core.memory import BaseMemory
from llama_index.core.schema import BaseNode, MetadataMode, NodeWithScore, QueryBundle
from llama_index.rag_intrinsics.query import ConversationQuery

from intrinsics_core import InvalidInput
from intrinsics_core.chains import scores
from intrinsics_core.chains.notes import heading
from intrinsics_core.chains.transcript import ChatTurn, MadeCall, messages

History = Sequence[ChatMessage] | None

_ROLES = {"function": "tool", "chatbot": "assistant", "model": "assistant"}  # other names for the same speakers


def conversation(
    query: str | QueryBundle | None,
    answer: str | None = None,
    history: History = None,
    calls: Sequence[MadeCall] = (),
    documents: Iterable[Any] = (),
) -> list[dict[str, Any]]:
    """The turns as the core takes them: the history (a :class:`ConversationQuery` brings its own), the question where
    there is one, and the answer where there is one, with the tool calls that were made for it.

    Args:
        documents: what the answer is judged by, as the core takes them.

    Raises:
        InvalidInput: the query is no question.
    """
    if query is not None and not isinstance(query, str | QueryBundle):
        raise InvalidInput("query is not a question", got=type(query).__name__,
                           expected="text, or ConversationQuery(question, chat_history=...)")  # fmt: skip
    turns = _turns(given_history(query) if history is None else history)
    if query is not None and not (turns and turns[-1].role == "user" and turns[-1].text == asked_in(query)):
        turns.append(ChatTurn("user", asked_in(query)))  # an agent's memory holds the question already
    if answer is not None:
        turns.append(ChatTurn("assistant", answer, tuple(calls)))
    return messages(turns, [each if isinstance(each, str) else each["text"] for each in documents])


def _turns(history: Sequence[ChatMessage]) -> list[ChatTurn]:
    said = {m.additional_kwargs.get("tool_call_id"): m.content or "" for m in history if m.role.value == "tool"}
    return [
        ChatTurn(
            _ROLES.get(message.role.value, message.role.value),
            message.content or "",
            tuple(
                MadeCall(block.tool_name, block.tool_kwargs, block.tool_call_id, said.get(block.tool_call_id))
                for block in message.blocks
                if block.block_type == "tool_call"
            ),
        )
        for message in history
    ]


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
            "score": None if asked is None else scores.retrievers_score(item.score, item.node.metadata, asked),
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
    hidden = {*scores.KEYS, *_excluded(node, shown)}
    metadata = {key: value for key, value in node.metadata.items() if key not in hidden}
    return heading(metadata, metadata, lambda key, value: node.metadata_template.format(key=key, value=str(value)))


_ALL = "{metadata_str}"


def _excluded(node: BaseNode, shown: MetadataMode) -> Sequence[str]:
    if shown is MetadataMode.LLM:
        return node.excluded_llm_metadata_keys
    return node.excluded_embed_metadata_keys if shown is MetadataMode.EMBED else ()


def same(node: NodeWithScore) -> tuple[str, str]:
    """What makes a node known again: one id may name several passages, and a text may be shown with other metadata."""
    return node.node.node_id, text_of(node)


def distinct(nodes: Iterable[NodeWithScore]) -> list[NodeWithScore]:
    """Each node once, where it stands first: an answer rests on a passage, not on how often it was found."""
    found: dict[tuple[str, str], NodeWithScore] = {}
    for item in nodes:
        found.setdefault(same(item), item)
    return list(found.values())


def asked_in(query: str | QueryBundle) -> str:
    """The plain question."""
    return query if isinstance(query, str) else query.query_str
