"""What the reranker and the relevance filter share: a document compressor that is a Runnable too, so that it traces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.callbacks import Callbacks
from langchain_core.documents import BaseDocumentCompressor, Document

from intrinsics_core.chains.notes import KEY, copy_containers
from langchain_rag_intrinsics._documents import RETRIEVAL_SCORE, SCORE, retrievers_score
from langchain_rag_intrinsics._inputs import ChainInput
from langchain_rag_intrinsics._intrinsic import Intrinsic
from langchain_rag_intrinsics._verdicts import beside


class Compressor(BaseDocumentCompressor, Intrinsic):
    """``compress_documents(documents, query)`` is ``invoke({"query": query, "documents": documents})``."""

    def compress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks | None = None
    ) -> Sequence[Document]:
        found: Sequence[Document] = self.returning_result(False).invoke(
            {"query": query, "documents": documents}, {"callbacks": callbacks}
        )
        return found

    async def acompress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks | None = None
    ) -> Sequence[Document]:
        found: Sequence[Document] = await self.returning_result(False).ainvoke(
            {"query": query, "documents": documents}, {"callbacks": callbacks}
        )
        return found

    def _verdicts(
        self, given: ChainInput, rows: Sequence[Any], shared: Mapping[str, Any], *, scored: bool = True
    ) -> list[Document]:
        """Copies of the documents that the rows name, in the rows' order, each with its score and verdict.

        A row without a score leaves the one that is there. A score of the retriever's that is written over is kept.

        Args:
            shared: what is said with every one of them.
            scored: whether the rows' scores are verdicts, or, of a fallback, those that were there.
        """
        copies = []
        for row in rows:
            document = given.documents[row.index]
            verdict = row.model_dump(mode="json", exclude={"document_id"}) | shared
            if why := getattr(row, "failure", None):  # of this document's judgement alone
                verdict["degraded"] = why
            metadata = {
                **copy_containers(document.metadata),
                **(_scored(document, row.score) if scored else {}),
                KEY: beside(document.metadata.get(KEY), {self.intrinsic: verdict}),
            }
            copies.append(document.model_copy(update={"metadata": metadata}))
        return copies


def _scored(document: Document, score: float | None) -> dict[str, Any]:
    if score is None:
        return {}
    before = retrievers_score(document)
    return {SCORE: score} if before is None else {SCORE: score, RETRIEVAL_SCORE: before}
