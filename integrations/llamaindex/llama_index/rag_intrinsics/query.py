"""Queries that know more than their words. All are query bundles: every part of LlamaIndex takes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from llama_index.core.llms import ChatMessage
from llama_index.core.schema import QueryBundle

from intrinsics_core.protocol.query_form import embedding_query
from intrinsics_core.protocol.results import QueryExpansion, QueryRewrite


@dataclass
class ConversationQuery(QueryBundle):
    """The last question of a conversation, with the turns before it.

    Give it to a query engine, a retriever or a postprocessor in place of the plain question: rewriting and judging then
    see the whole conversation, and every other part sees the question.

    Example:
        >>> from llama_index.core.llms import ChatMessage
        >>> from llama_index.rag_intrinsics import ConversationQuery
        >>> turns = [ChatMessage("Tell me about the tide mill."), ChatMessage("It is old.", role="assistant")]
        >>> ConversationQuery("Who built it?", chat_history=turns).query_str
        'Who built it?'
    """

    chat_history: Sequence[ChatMessage] = ()


@dataclass
class TransformedQuery(QueryBundle):
    """What a transform made of a query: ``rewrite`` has the original question, ``expansion`` all texts."""

    rewrite: QueryRewrite | None = None
    expansion: QueryExpansion | None = None


def says_it(query: QueryBundle) -> set[str]:
    """The texts of a query that are the question itself. Others, such as the passage of HyDE, go beside it."""
    rewrite = query.rewrite if isinstance(query, TransformedQuery) else None
    return {query.query_str, *([rewrite.retrieval_query, embedding_query(rewrite)] if rewrite else [])}
