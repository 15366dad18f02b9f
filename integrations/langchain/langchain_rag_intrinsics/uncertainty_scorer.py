"""Uncertainty scorer."""

from __future__ import annotations

from typing import ClassVar

from langchain_rag_intrinsics._answering import AnswerIntrinsic


class UncertaintyScorer(AnswerIntrinsic):
    """How likely an answer is right, or, before there is one, how likely it will be.

    Takes ``{"question" | "messages", "documents"?, "answer"?}``. With an answer it returns a copy of it whose
    ``response_metadata["rag_intrinsics"]["uncertainty"]`` holds the certainty; without one, or with
    ``return_result=True``, the core's Uncertainty.

    Example:
        >>> from langchain_rag_intrinsics import UncertaintyScorer
        >>> before = UncertaintyScorer().invoke({
        ...     "question": "Who built the tide mill?", "documents": ["Ada Brink built the tide mill in 1911."]})
        >>> 0 <= before.certainty <= 1
        True
    """

    intrinsic: ClassVar[str] = "uncertainty"
