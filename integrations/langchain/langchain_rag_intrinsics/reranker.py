"""Reranker."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from langchain_core.documents import Document
from pydantic import Field

from intrinsics_core.intrinsics.reranking import OPTIONS, Mode, Reading
from intrinsics_core.protocol.results import Ranking
from langchain_rag_intrinsics._compressor import Compressor
from langchain_rag_intrinsics._messages import ChainInput


class IntrinsicsReranker(Compressor):
    """Documents in the order in which they answer the question, best first.

    A document compressor and a Runnable over ``{"query" | "question" | "messages", "documents"}``. Returns copies:
    ``metadata["relevance_score"]`` holds the score, ``metadata["retrieval_score"]`` the retriever's, and flat keys the
    verdict (``reranking_rank``; see :mod:`intrinsics_core.chains.scores`). With ``return_result=True``, ``invoke``
    returns the core's Ranking. Where each document has a probability, the retriever's own scores take part in it, with
    a bound, where all documents have one in ``metadata["relevance_score"]``, or else in ``metadata["score"]``.

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
        kept, more = list(result.ranking), {}
        if self.score_threshold is not None and result.mode == "pointwise" and result.degraded is None:
            kept = [row for row in kept if row.score is not None and row.score >= self.score_threshold]
        elif self.score_threshold is not None:
            why = "the ranking is degraded" if result.degraded else "these scores are places in one ranking"
            more = {"warning": f"score_threshold left out: {why}"}
        return self._judged(given, kept[: self.top_n], result, **more)
