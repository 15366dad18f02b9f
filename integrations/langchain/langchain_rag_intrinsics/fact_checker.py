"""Fact checker."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal

from intrinsics_core.intrinsics.fact_check import OPTIONS
from langchain_rag_intrinsics._answering import AnswerIntrinsic


class FactChecker(AnswerIntrinsic):
    """How true an answer is by its sources, and which sources that rests on.

    Takes ``{"question" | "messages", "documents", "answer"}``; returns a copy of the answer whose
    ``response_metadata["rag_intrinsics"]["fact-check"]`` holds the score, the claims and the sources. With
    ``return_result=True`` it returns the core's FactCheck. For agents see :class:`FactCheckTool`.

    Args:
        top_k: read at most this many sources, the most relevant; None reads all that ``top_p`` leaves.
        top_p: read the most relevant sources until their share of all relevance reaches this; None switches it off.
        aggregate: of a claim's scores by source: the ``"max"``, the ``"min"``, or the mean ``"weighted"`` by
            relevance.
        sources: what is one source: each document (``"passages"``), or each of its sentences.
        combine: of the scores of the answer's sentences: their ``"mean"``, or the ``"min"``.

    Example:
        >>> from langchain_rag_intrinsics import FactChecker
        >>> result = FactChecker(return_result=True).invoke({
        ...     "question": "Who built the tide mill?",
        ...     "documents": ["Ada Brink built the tide mill in 1911.", "The harbour has two cranes."],
        ...     "answer": "Ada Brink built it.",
        ... })
        >>> [source.document_id for source in result.sources]
        ['0', '1']
    """

    intrinsic: ClassVar[str] = "fact-check"
    _options: ClassVar[Sequence[str]] = OPTIONS

    top_k: int | None = None
    top_p: float | None = 0.9
    aggregate: Literal["max", "min", "weighted"] = "max"
    sources: Literal["passages", "sentences"] = "passages"
    combine: Literal["mean", "min"] = "mean"
