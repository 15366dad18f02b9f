"""Document compressors that are Runnables too, so that they trace: reranker and relevance filter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar

from langchain_core.callbacks import Callbacks
from langchain_core.documents import BaseDocumentCompressor, Document
from pydantic import BeforeValidator, Field

from intrinsics_core.chains.scores import at_least, marked, own_score, verdict_on
from intrinsics_core.intrinsics.reranking import OPTIONS, Mode, Reading
from intrinsics_core.protocol.results import ContextRelevance, Ranking, Relevance
from langchain_rag_intrinsics._documents import SCORE
from langchain_rag_intrinsics._intrinsic import Intrinsic, several
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

    def _judged(
        self, given: ChainInput, rows: Sequence[Any], result: Any, warning: str | None = None
    ) -> list[Document]:
        """Copies of the documents that the rows name, each with its score and verdict."""
        copies = []
        for row in rows:
            document = given.documents[row.index]
            before = document.metadata.get(SCORE)
            verdict = verdict_on(self.intrinsic, row, result, warning=warning)
            metadata = marked(document.metadata, verdict, before, given.question)
            if (score := own_score(row, result, before)) is not None:
                metadata[SCORE] = score
            copies.append(document.model_copy(update={"metadata": metadata}))
        return copies


class IntrinsicsReranker(Compressor):
    """Documents in the order in which they answer the question, best first.

    A document compressor and a Runnable over ``{"query" | "question" | "messages", "documents"}``. Returns copies:
    ``metadata["relevance_score"]`` holds the score, ``metadata["retrieval_score"]`` the retriever's, and flat keys the
    verdict (``reranking_rank``; see :mod:`intrinsics_core.chains.scores`). With ``return_result=True``, ``invoke``
    returns the core's Ranking. The retriever's scores take part in probabilities where all documents have one in
    ``metadata["relevance_score"]``, or else in ``metadata["score"]``.

    Args:
        top_n: return at most this many; None for all.
        score_threshold: return only documents that score at least this, where scores are probabilities (the embedded
            and encoder runtimes, ``mode="pointwise"``); otherwise all pass, and ``reranking_warning`` says so.
        mode: how a language model ranks: ``"listwise"``, ``"pairwise"`` or ``"pointwise"``; None for the profile's own.
            See :func:`intrinsics_core.reranking`.
        prior: which of two of the retriever's scores is the better one: ``"higher"``, ``"lower"`` (distances), or
            ``"auto"``, as the list's order tells. None: they do not count.

    Example:
        >>> from langchain_core.documents import Document
        >>> from langchain_rag_intrinsics import IntrinsicsReranker
        >>> documents = [Document("The harbour has two cranes.", id="cranes"),
        ...              Document("Ada Brink built the tide mill in 1911.", id="mill")]
        >>> best = IntrinsicsReranker(top_n=1).invoke({"query": "Who built the tide mill?", "documents": documents})
        >>> best[0].id
        'mill'
    """

    intrinsic: ClassVar[str] = "reranking"
    _options: ClassVar[Sequence[str]] = OPTIONS

    top_n: int | None = Field(default=None, ge=0)
    score_threshold: float | None = None
    mode: Mode | None = None
    prior: Reading | None = "auto"

    def _tell(self, value: Any, given: ChainInput, result: Ranking) -> list[Document]:
        rows, warning = at_least(result, self.score_threshold)
        return self._judged(given, rows[: self.top_n], result, warning)


class ContextRelevanceFilter(Compressor):
    """The documents that help to answer the question, in their own order.

    A document compressor and a Runnable over ``{"query" | "question" | "messages", "documents"}``. Returns copies:
    ``metadata["relevance_score"]`` holds the score, ``metadata["context_relevance"]`` the label. With
    ``return_result=True``, ``invoke`` returns the core's ContextRelevance.

    Args:
        labels: which labels to keep, or the one.
        score_threshold: keep only documents whose probability of being of use is at least this; None for all. A
            document whose judgement failed is kept, and ``context_relevance_degraded`` says why.

    Example:
        >>> from langchain_core.documents import Document
        >>> from langchain_rag_intrinsics import ContextRelevanceFilter
        >>> documents = [Document("Ada Brink built the tide mill in 1911.", id="mill")]
        >>> kept = ContextRelevanceFilter().compress_documents(documents, "Who built the tide mill?")
        >>> [document.id for document in kept]
        ['mill']
    """

    intrinsic: ClassVar[str] = "context-relevance"

    labels: Annotated[tuple[Relevance, ...], BeforeValidator(several)] = ("relevant", "partially relevant")
    score_threshold: float | None = None

    def _tell(self, value: Any, given: ChainInput, result: ContextRelevance) -> list[Document]:
        return self._judged(given, result.kept(self.labels, self.score_threshold), result)
