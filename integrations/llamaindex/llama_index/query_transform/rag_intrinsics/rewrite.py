"""Query rewrite."""

from __future__ import annotations

from typing import ClassVar

from llama_index.core.schema import QueryBundle
from llama_index.query_transform.rag_intrinsics._transform import ConversationTransform
from llama_index.rag_intrinsics.query import RewrittenQuery, says_it

from intrinsics_core.protocol.query_form import embedding_query
from intrinsics_core.protocol.results import QueryRewrite


class QueryRewriteTransform(ConversationTransform):
    """The last question of a conversation, so that it stands alone.

    Returns a :class:`~llama_index.rag_intrinsics.RewrittenQuery`, whose ``rewrite`` says whether it changed. Where the
    runtime gives a form made for retrieval, that is what is embedded; the plain question is what all others see.
    Further texts to embed that the query brings, such as the passage of ``HyDEQueryTransform``, stay.

    Args:
        memory: the memory of a chat engine, to read the conversation from.

    Example:
        >>> from llama_index.core.llms import ChatMessage
        >>> from llama_index.query_transform.rag_intrinsics import QueryRewriteTransform
        >>> from llama_index.rag_intrinsics import ConversationQuery
        >>> turns = [ChatMessage("Is there a tide mill on Ellery?"), ChatMessage("Yes, it is old.", role="assistant")]
        >>> rewritten = QueryRewriteTransform().run(ConversationQuery("Who built it?", chat_history=turns))
        >>> rewritten.rewrite.original, "mill" in rewritten.embedding_strs[0]
        ('Who built it?', True)
    """

    intrinsic: ClassVar[str] = "query-rewrite"

    def _tell(self, query: QueryBundle, result: QueryRewrite) -> RewrittenQuery:
        # What else is to be embedded (the passage of HyDE) stays; the question in it is the rewritten one.
        own = says_it(query)
        texts = [embedding_query(result) if text in own else text for text in query.embedding_strs]
        return RewrittenQuery(result.query, image_path=query.image_path, custom_embedding_strs=texts, rewrite=result)
