"""Relevance filter."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from langchain_core.documents import Document
from pydantic import BeforeValidator

from intrinsics_core.protocol.results import ContextRelevance, Relevance
from langchain_rag_intrinsics._compressor import Compressor
from langchain_rag_intrinsics._messages import ChainInput


def _several(value: Any) -> Any:
    return (value,) if isinstance(value, str) else value


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

    labels: Annotated[tuple[Relevance, ...], BeforeValidator(_several)] = ("relevant", "partially relevant")
    score_threshold: float | None = None

    def _tell(self, value: Any, given: ChainInput, result: ContextRelevance) -> list[Document]:
        return self._judged(given, result.kept(self.labels, self.score_threshold), result)
