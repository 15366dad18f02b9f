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
from langchain_rag_intrinsics.query_rewriter import QueryRewriter


class IntrinsicsRetriever(BaseRetriever):
    """Any retriever, asked better: rewrite, expand, retrieve side by side, fuse, rerank or filter, keep the best.

    Takes a question, or a conversation (a list of messages, or a mapping as :class:`QueryRewriter` takes it). Each step
    may be left out; each is a span inside this retriever's. Asynchronous all the way where the parts are.

    Args:
        retriever: what finds documents: any Runnable from a query to documents.
        rewriter: makes the question stand alone. A :class:`QueryRewriter`'s retrieval form, where its runtime gives
            one, goes to the retriever; the readable question goes to the later steps.
        expander: makes several queries of it, asked side by side and fused by reciprocal rank.
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
        question, asked = _forms(rewritten)
        if self.expander:
            more = self.expander.invoke(question if self.rewriter else query, _within(run_manager, "expand"))
            asked = _distinct(asked, more)
        rankings = self.retriever.batch(asked, _within(run_manager, "retrieve"))
        documents: Sequence[Document] = fuse(rankings) if len(rankings) > 1 else rankings[0]
        for compressor in self.compressors:
            documents = compressor.compress_documents(documents, question, run_manager.get_child("compress"))
        return list(documents)[:limit]

    async def _aget_relevant_documents(
        self, query: Any, *, run_manager: AsyncCallbackManagerForRetrieverRun, **kwargs: Any
    ) -> list[Document]:
        limit = self._limit(kwargs)
        rewritten = await self._rewriting.ainvoke(query, _within(run_manager, "rewrite")) if self._rewriting else query
        question, asked = _forms(rewritten)
        if self.expander:
            more = await self.expander.ainvoke(question if self.rewriter else query, _within(run_manager, "expand"))
            asked = _distinct(asked, more)
        rankings = await self.retriever.abatch(asked, _within(run_manager, "retrieve"))
        documents: Sequence[Document] = fuse(rankings) if len(rankings) > 1 else rankings[0]
        for compressor in self.compressors:
            documents = await compressor.acompress_documents(documents, question, run_manager.get_child("compress"))
        return list(documents)[:limit]

    @property
    def _rewriting(self) -> Runnable[Any, Any] | None:
        """The rewriter, one of ours asked for all it knows."""
        if isinstance(self.rewriter, QueryRewriter):
            return self.rewriter.model_copy(update={"return_result": True})
        return self.rewriter

    def _limit(self, kwargs: dict[str, Any]) -> int | None:
        k = kwargs.get("k", self.k)
        if k is not None and (not isinstance(k, int) or k < 0):
            raise InvalidInput("k is out of range", expected="a number from 0, or None", got=repr(k))
        return k


def _within(run_manager: Any, step: str) -> Any:
    return {"callbacks": run_manager.get_child(step)}


def _forms(value: Any) -> tuple[str, list[str]]:
    """The question as people read it, and what to ask the retriever for."""
    if isinstance(value, QueryRewrite):
        if value.degraded:
            logging.getLogger(__name__).warning("query not rewritten: %s", value.degraded)
        return value.query, [value.retrieval_query or value.query]
    given = read(value, "retrieval")
    question = next((turn["content"] for turn in reversed(given.messages) if turn["role"] == "user"), None)
    if question is None:
        raise InvalidInput("the conversation has no user turn", intrinsic="retrieval", expected="a question")
    return question, [question]


def _distinct(first: list[str], more: Sequence[str]) -> list[str]:
    return list(dict.fromkeys([*first, *more]))
