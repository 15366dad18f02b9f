"""Uncertainty."""

from __future__ import annotations

from typing import ClassVar

from llama_index.evaluation.rag_intrinsics._evaluator import IntrinsicEvaluator, Score, scored
from pydantic import Field

from intrinsics_core.protocol.results import Uncertainty


class UncertaintyEvaluator(IntrinsicEvaluator):
    """How certain is the response, or, without one, an answer to the query? The score is the certainty.

    Args:
        threshold: passing from this certainty on.

    Example:
        >>> from llama_index.evaluation.rag_intrinsics import UncertaintyEvaluator
        >>> found = UncertaintyEvaluator().evaluate(
        ...     query="Who built the tide mill?", response="Ada Brink built it.",
        ...     contexts=["Ada Brink built the tide mill in 1911."])
        >>> 0 < found.score < 1
        True
    """

    intrinsic: ClassVar[str] = "uncertainty"

    threshold: float = Field(default=0.5, ge=0, le=1)

    def _score(self, result: Uncertainty) -> Score:
        said = "" if result.certainty is None else f"certainty {result.certainty:.2f}"
        return scored(result.certainty, self.threshold, False, said)
