"""Answerability."""

from __future__ import annotations

from typing import ClassVar

from llama_index.evaluation.rag_intrinsics._evaluator import IntrinsicEvaluator, Score, Threshold, scored

from intrinsics_core.protocol.results import Answerability


class AnswerabilityEvaluator(IntrinsicEvaluator):
    """Do the contexts answer the query? Passing where they do; the score is the probability of it.

    Args:
        threshold: passing from this probability on, whatever the label; None: by the label.

    Example:
        >>> from llama_index.evaluation.rag_intrinsics import AnswerabilityEvaluator
        >>> AnswerabilityEvaluator().evaluate(
        ...     query="Who built the tide mill?", contexts=["Ada Brink built the tide mill in 1911."]).passing
        True
    """

    intrinsic: ClassVar[str] = "answerability"

    threshold: Threshold = None

    def _score(self, result: Answerability) -> Score:
        return scored(result.probability, self.threshold, result.answerable, result.label)
