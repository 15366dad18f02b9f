"""What the reranker and the relevance filter share: a document compressor that is a Runnable too, so that it traces."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain_core.callbacks import Callbacks
from langchain_core.documents import BaseDocumentCompressor, Document

from intrinsics_core.results import Result
from langchain_rag_intrinsics._inputs import Given
from langchain_rag_intrinsics._intrinsic import Intrinsic


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

    def _verdicts(self, given: Given, rows: Sequence[Any], result: Result) -> list[Document]:
        """Copies of the documents that the rows name, in the rows' order, each with its score and verdict.

        The score is the caller's own where a fallback stands in for a verdict without one.
        """
        why = {} if result.degraded is None else {"degraded": result.degraded}
        copies = []
        for row in rows:
            document = given.documents[row.index]
            verdict = row.model_dump(mode="json", exclude={"document_id"}) | why
            score = {} if row.score is None else {"relevance_score": row.score}
            before = document.metadata.get("rag_intrinsics") or {}
            metadata = {**document.metadata, **score, "rag_intrinsics": {**before, self.intrinsic: verdict}}
            copies.append(document.model_copy(update={"metadata": metadata}))
        return copies
