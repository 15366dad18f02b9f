"""Answerability."""

from __future__ import annotations

from typing import ClassVar

from llama_index.evaluation.rag_intrinsics._evaluator import IntrinsicEvaluator, Score

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

    def _score(self, result: Answerability) -> Score:
        return self._reached(result.probability, result.answerable, result.label)
