"""Answer relevance."""

from __future__ import annotations

from typing import ClassVar

from llama_index.evaluation.rag_intrinsics._evaluator import IntrinsicEvaluator, Score, Threshold, scored

from intrinsics_core.protocol.results import AnswerRelevance


class AnswerRelevanceEvaluator(IntrinsicEvaluator):
    """Does the response address the query, be it true or not? The score is the probability. Where a language model
    judges, ``verdict["rewrite"]`` may be a response that does it better.

    Args:
        threshold: passing from this score on, whatever the label; None: by the label.

    Example:
        >>> from llama_index.evaluation.rag_intrinsics import AnswerRelevanceEvaluator
        >>> AnswerRelevanceEvaluator().evaluate(
        ...     query="Who built the tide mill?", response="Ada Brink built the tide mill.").passing
        True
    """

    intrinsic: ClassVar[str] = "answer-relevance"

    threshold: Threshold = None

    def _score(self, result: AnswerRelevance) -> Score:
        if result.label is None:
            return Score(None, None, "")
        return scored(result.score, self.threshold, result.label != "irrelevant", result.label)
