"""Query expansion."""

from __future__ import annotations

from typing import ClassVar

from llama_index.core.schema import QueryBundle
from llama_index.query_transform.rag_intrinsics._transform import ConversationTransform
from llama_index.rag_intrinsics.query import ExpandedQuery, says_it

from intrinsics_core.protocol.results import QueryExpansion


class QueryExpansionTransform(ConversationTransform):
    """The question with other ways to say it, for vector search.

    Returns an :class:`~llama_index.rag_intrinsics.ExpandedQuery`: the question as it was, and all texts in
    ``custom_embedding_strs`` (LlamaIndex embeds their mean, as its own HyDE transform has it). To search with each text
    and fuse what is found, give it to an :class:`~llama_index.retrievers.rag_intrinsics.IntrinsicsRetriever`.

    Example:
        >>> from llama_index.query_transform.rag_intrinsics import QueryExpansionTransform
        >>> QueryExpansionTransform().run("Who built the tide mill at Port Ellery?").embedding_strs[0]
        'Who built the tide mill at Port Ellery?'
    """

    intrinsic: ClassVar[str] = "query-expansion"

    def _tell(self, query: QueryBundle, result: QueryExpansion) -> ExpandedQuery:
        own = says_it(query)
        texts = [row.text for row in result.queries] + [text for text in query.embedding_strs if text not in own]
        return ExpandedQuery(
            query.query_str, image_path=query.image_path, custom_embedding_strs=texts, expansion=result
        )
