"""What the reranker and the relevance filter share: a document compressor that is a Runnable too, so that it traces."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain_core.callbacks import Callbacks
from langchain_core.documents import BaseDocumentCompressor, Document

from intrinsics_core.chains.scores import marked, own_score, verdict_on
from langchain_rag_intrinsics._documents import SCORE
from langchain_rag_intrinsics._intrinsic import Intrinsic
from langchain_rag_intrinsics._messages import ChainInput


class Compressor(BaseDocumentCompressor, Intrinsic):
    """``compress_documents(documents, query)`` is ``invoke({"query": query, "documents": documents})``."""

    def compress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks | None = None
    ) -> Sequence[Document]:
        given = {"query": query, "documents": documents}
        found: Sequence[Document] = self.returning_result(False).invoke(given, {"callbacks": callbacks})
        return found

    async def acompress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks | None = None
    ) -> Sequence[Document]:
        given = {"query": query, "documents": documents}
        found: Sequence[Document] = await self.returning_result(False).ainvoke(given, {"callbacks": callbacks})
        return found

    def _judged(self, given: ChainInput, rows: Sequence[Any], result: Any, **more: Any) -> list[Document]:
        """Copies of the documents that the rows name, in the rows' order, each with its score and verdict.

        Args:
            more: what is said with every one of them.
        """
        copies = []
        for row in rows:
            document = given.documents[row.index]
            before = document.metadata.get(SCORE)
            verdict = verdict_on(self.intrinsic, row, result, **more)
            metadata = marked(document.metadata, verdict, before, given.question)
            if (score := own_score(row, result, before)) is not None:
                metadata[SCORE] = score
            copies.append(document.model_copy(update={"metadata": metadata}))
        return copies
