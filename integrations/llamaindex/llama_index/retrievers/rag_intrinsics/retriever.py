"""Retriever wrapper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from inspect import signature
from typing import Any

from llama_index.core.llms import MockLLM
from llama_index.core.retrievers import BaseRetriever, QueryFusionRetriever
from llama_index.core.retrievers.fusion_retriever import FUSION_MODES
from llama_index.core.schema import NodeWithScore, QueryBundle
from llama_index.query_transform.rag_intrinsics import QueryExpansionTransform, QueryRewriteTransform
from llama_index.rag_intrinsics._component import check_names
from llama_index.rag_intrinsics.query import TransformedQuery

from intrinsics_core import InvalidInput
from intrinsics_core.protocol.names import named

_NOT_ASKED = ("llm", "query_gen_prompt", "num_queries", "settings")  # what an LLM would be asked with
Found = Mapping[tuple[str, int], Sequence[NodeWithScore]]


class IntrinsicsRetriever(QueryFusionRetriever):
    """Any retrievers, asked better: rewrite the question, expand it, retrieve side by side, fuse, keep the best.

    LlamaIndex's own fusion retriever, with intrinsics in place of its prompt. Takes a question, or a
    :class:`~llama_index.rag_intrinsics.ConversationQuery`. Asynchronous all the way where the retrievers are. Rerankers
    and filters go behind it, as the query engine's ``node_postprocessors``.

    Args:
        retrievers: one, or several.
        rewriter: makes the question stand alone; give it the chat engine's memory, and it sees the conversation.
            Retrievers that look for words get its form for retrieval, with keywords, where its runtime gives one;
            vector stores embed the plain question where it stands alone.
        expander: makes several queries of the rewritten question; None asks one.
        mode: how rankings are fused, where there is more than one; reciprocal rank by default.
        similarity_top_k: return at most this many; None for all.
        settings: further ones of LlamaIndex's fusion retriever: ``retriever_weights`` for the modes that fuse by score,
            ``use_async`` (whether ``retrieve`` asks side by side, in an event loop of its own).

    Example:
        >>> from llama_index.core import MockEmbedding, VectorStoreIndex
        >>> from llama_index.core.schema import TextNode
        >>> from llama_index.query_transform.rag_intrinsics import QueryExpansionTransform, QueryRewriteTransform
        >>> from llama_index.retrievers.rag_intrinsics import IntrinsicsRetriever
        >>> nodes = [TextNode(id_="mill", text="Ada Brink built the tide mill in 1911.")]
        >>> search = VectorStoreIndex(nodes, embed_model=MockEmbedding(8)).as_retriever()
        >>> retriever = IntrinsicsRetriever([search], rewriter=QueryRewriteTransform(),
        ...                                 expander=QueryExpansionTransform())
        >>> [node.node_id for node in retriever.retrieve("Who built the tide mill?")]
        ['mill']
    """

    def __init__(
        self,
        retrievers: BaseRetriever | Sequence[BaseRetriever],
        *,
        rewriter: QueryRewriteTransform | None = None,
        expander: QueryExpansionTransform | None = None,
        mode: FUSION_MODES | str = FUSION_MODES.RECIPROCAL_RANK,
        similarity_top_k: int | None = None,
        **settings: Any,
    ) -> None:
        known = [*signature(IntrinsicsRetriever).parameters, *signature(QueryFusionRetriever).parameters]
        check_names(settings, [name for name in known if name not in _NOT_ASKED], called=type(self).__name__)
        each = [retrievers] if isinstance(retrievers, BaseRetriever) else list(retrievers)
        for retriever in each:
            if not hasattr(retriever, "retrieve"):
                raise InvalidInput("retrievers has something that is not a retriever", got=repr(retriever),
                                   expected="e.g. index.as_retriever(), or a list of them")  # fmt: skip
        super().__init__(
            each,
            llm=MockLLM(),  # never asked: the queries are the intrinsics'
            mode=FUSION_MODES(named("mode", mode, [each.value for each in FUSION_MODES])),
            **settings,
        )
        self._rewriter, self._expander = rewriter, expander
        self._most = similarity_top_k

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        query = self._rewriter.run(query_bundle) if self._rewriter else query_bundle
        queries = _queries(query, self._expander.run(query) if self._expander else None)
        side_by_side = self.use_async and len(queries) * len(self._retrievers) > 1
        return self._fused(self._run_nested_async_queries(queries) if side_by_side else self._run_sync_queries(queries))

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        query = await self._rewriter.arun(query_bundle) if self._rewriter else query_bundle
        queries = _queries(query, await self._expander.arun(query) if self._expander else None)
        return self._fused(await self._run_async_queries(queries))

    def _fused(self, found: Found) -> list[NodeWithScore]:
        if len(found) == 1:  # nothing to fuse: the retriever's order and scores stand
            return [*next(iter(found.values()))][: self._most]
        # The fusions write into what they are given, which may be the caller's own.
        own = {key: [item.model_copy() for item in nodes] for key, nodes in found.items()}
        if self.mode == FUSION_MODES.RECIPROCAL_RANK:
            return self._reciprocal_rerank_fusion(own)[: self._most]
        if self.mode == FUSION_MODES.SIMPLE:
            return self._simple_fusion(own)[: self._most]
        by_distance = self.mode == FUSION_MODES.DIST_BASED_SCORE
        return self._relative_score_fusion(own, dist_based=by_distance)[: self._most]


def _queries(query: QueryBundle, expanded: QueryBundle | None) -> list[QueryBundle]:
    """What to ask the retrievers for: the question first, a rewritten one in its form for retrieval. Further texts that
    it is to be embedded with (the passage of HyDE) go with the first.
    """
    first = query
    if isinstance(query, TransformedQuery) and query.rewrite:
        first = QueryBundle(query.rewrite.retrieval_query, custom_embedding_strs=query.embedding_strs)
    rows = expanded.expansion.queries if isinstance(expanded, TransformedQuery) and expanded.expansion else ()
    return [first, *(QueryBundle(row.text) for row in rows if row.text != first.query_str)]
