"""Retriever wrapper."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import BaseDocumentCompressor, Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable
from pydantic import ConfigDict, Field

from intrinsics_core import InvalidInput
from intrinsics_core.results import QueryRewrite
from langchain_rag_intrinsics._inputs import read
from langchain_rag_intrinsics.fusion import fuse
from langchain_rag_intrinsics.query_expander import QueryExpander
from langchain_rag_intrinsics.query_rewriter import QueryRewriter


class IntrinsicsRetriever(BaseRetriever):
    """Any retriever, asked better: rewrite, expand, retrieve side by side, fuse, rerank or filter, keep the best.

    Takes a question, or a conversation (a list of messages, or a mapping as :class:`QueryRewriter` takes it). Each step
    may be left out; each is a span inside this retriever's. Asynchronous all the way where the parts are.

    Args:
        retriever: what finds documents: any Runnable from a query to documents.
        rewriter: makes the question stand alone. Where a :class:`QueryRewriter`'s runtime tells its forms apart, the
            retriever is asked with the one for retrieval, and compressors get the plain question, without keywords.
        expander: makes more queries of the question, asked side by side; what each finds is fused by reciprocal rank.
            A :class:`QueryExpander` is given what the question itself found, for pseudo-relevance feedback.
        compressors: rerankers and filters, in order; each gets the question, not the expansions.
        k: return at most this many; None for all. Also an argument of ``invoke``.

    Example:
        >>> from langchain_core.documents import Document
        >>> from langchain_core.runnables import RunnableLambda
        >>> from langchain_rag_intrinsics import IntrinsicsReranker, IntrinsicsRetriever, QueryRewriter
        >>> documents = [Document("The harbour has two cranes.", id="cranes"),
        ...              Document("Ada Brink built the tide mill in 1911.", id="mill")]
        >>> retriever = IntrinsicsRetriever(retriever=RunnableLambda(lambda query: documents),
        ...                                 rewriter=QueryRewriter(), compressors=[IntrinsicsReranker()], k=1)
        >>> retriever.invoke("Who built the tide mill?")[0].id
        'mill'
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, hide_input_in_errors=True)

    retriever: Runnable[Any, Any]
    rewriter: Runnable[Any, Any] | None = None
    expander: Runnable[Any, Any] | None = None
    compressors: Sequence[BaseDocumentCompressor] = ()
    k: int | None = Field(default=None, ge=0)

    @classmethod
    def is_lc_serializable(cls) -> bool:
        return True

    def _get_relevant_documents(
        self, query: Any, *, run_manager: CallbackManagerForRetrieverRun, **kwargs: Any
    ) -> list[Document]:
        limit = self._limit(kwargs)
        rewritten = self._rewriting.invoke(query, _within(run_manager, "rewrite")) if self._rewriting else query
        asked, question = _forms(rewritten)
        documents: Sequence[Document] = self.retriever.invoke(asked, _within(run_manager, "retrieve"))
        if self._expanding:
            given = self._to_expand(question if self.rewriter else query, documents)
            more = _others(self._expanding.invoke(given, _within(run_manager, "expand")), asked)
            if more:
                documents = fuse([documents, *self.retriever.batch(more, _within(run_manager, "retrieve"))])
        for compressor in self.compressors:
            documents = compressor.compress_documents(documents, question, run_manager.get_child("compress"))
        return list(documents)[:limit]

    async def _aget_relevant_documents(
        self, query: Any, *, run_manager: AsyncCallbackManagerForRetrieverRun, **kwargs: Any
    ) -> list[Document]:
        limit = self._limit(kwargs)
        rewritten = await self._rewriting.ainvoke(query, _within(run_manager, "rewrite")) if self._rewriting else query
        asked, question = _forms(rewritten)
        documents: Sequence[Document] = await self.retriever.ainvoke(asked, _within(run_manager, "retrieve"))
        if self._expanding:
            given = self._to_expand(question if self.rewriter else query, documents)
            more = _others(await self._expanding.ainvoke(given, _within(run_manager, "expand")), asked)
            if more:
                documents = fuse([documents, *await self.retriever.abatch(more, _within(run_manager, "retrieve"))])
        for compressor in self.compressors:
            documents = await compressor.acompress_documents(documents, question, run_manager.get_child("compress"))
        return list(documents)[:limit]

    @property
    def _rewriting(self) -> Runnable[Any, Any] | None:
        """The rewriter, one of ours asked for all it knows."""
        if isinstance(self.rewriter, QueryRewriter):
            return self.rewriter.returning_result()
        return self.rewriter

    @property
    def _expanding(self) -> Runnable[Any, Any] | None:
        """The expander, one of ours asked for the queries alone."""
        if isinstance(self.expander, QueryExpander):
            return self.expander.returning_result(False)
        return self.expander

    def _to_expand(self, query: Any, found: Sequence[Document]) -> Any:
        """What the expander is given: one of ours, the first results too, each once."""
        if isinstance(self.expander, QueryExpander):
            return {"messages": list(read(query, self.expander.intrinsic).turns), "documents": fuse([found])}
        return query

    def _limit(self, kwargs: dict[str, Any]) -> int | None:
        k = kwargs.get("k", self.k)
        if k is not None and (not isinstance(k, int) or k < 0):
            raise InvalidInput("k is out of range", expected="a number from 0, or None", got=repr(k))
        return k


def _within(run_manager: Any, step: str) -> Any:
    return {"callbacks": run_manager.get_child(step)}


def _forms(value: Any) -> tuple[str, str]:
    """What to ask the retriever for, and the question as people read it."""
    if isinstance(value, QueryRewrite):
        if value.degraded:
            logging.getLogger(__name__).warning("query not rewritten: %s", value.degraded)
        return value.retrieval_query, value.query
    given = read(value, "retrieval")
    question = next((turn["content"] for turn in reversed(given.messages) if turn["role"] == "user"), None)
    if question is None:
        raise InvalidInput("the conversation has no user turn", intrinsic="retrieval", expected="a question")
    return question, question


def _others(queries: Sequence[str], asked: str) -> list[str]:
    """Each query once, without the one that has been asked."""
    return [query for query in dict.fromkeys(queries) if query != asked]
