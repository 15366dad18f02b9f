"""Reranker."""

from __future__ import annotations

from typing import Any, ClassVar

from langchain_core.documents import Document
from pydantic import Field

from intrinsics_core import Call, reranking
from intrinsics_core.intrinsics.reranking import WINDOW, Mode
from intrinsics_core.results import Ranking
from langchain_rag_intrinsics._compressor import Compressor
from langchain_rag_intrinsics._inputs import Given


class IntrinsicsReranker(Compressor):
    """Documents in the order in which they answer the question, best first.

    A document compressor (for any compression retriever) and a Runnable over ``{"query" | "question" | "messages",
    "documents"}``. Returns copies: ``metadata["relevance_score"]`` holds the score, ``metadata["rag_intrinsics"]
    ["reranking"]`` rank and wins; ids and all other metadata stay. With ``return_result=True``, ``invoke`` returns the
    core's Ranking.

    A scoring runtime such as the embedded one lets the retriever's own scores take part, higher being better, where all
    documents have a finite one in ``metadata["relevance_score"]``, or else in ``metadata["score"]``.

    Args:
        top_n: return at most this many; None for all.
        score_threshold: return only documents that score at least this; None for all. Scores of comparing models are
            shares within one ranking, so a threshold fits scoring runtimes such as the embedded one.
        mode: how a language model ranks: ``"listwise"`` (one call up to ``window`` documents), ``"pairwise"``
            (comparisons), ``"pointwise"`` (one call a document, scores that a threshold fits); None for the profile's
            own. See :func:`intrinsics_core.reranking`.
        window: documents in one list.
        both_orders: ask about each list or pair in both orders, against position bias, at twice the requests.

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

    top_n: int | None = Field(default=None, ge=0)
    score_threshold: float | None = None
    mode: Mode | None = None
    window: int = Field(default=WINDOW, ge=2)
    both_orders: bool = False

    def _ask(self, given: Given) -> Call[Ranking]:
        how: dict[str, Any] = {"mode": self.mode, "window": self.window, "both_orders": self.both_orders}
        return reranking(given.messages, given.passages, **how, **self._settings())

    def _tell(self, value: Any, given: Given, result: Ranking) -> list[Document]:
        floor = float("-inf") if self.score_threshold is None else self.score_threshold
        kept = [row for row in result.ranking if row.score is None or row.score >= floor or result.degraded]
        return self._verdicts(given, kept[: self.top_n], result)
