"""Context relevance."""

from __future__ import annotations

from typing import ClassVar

from llama_index.evaluation.rag_intrinsics._evaluator import EvaluatorInput, IntrinsicEvaluator, Score, reached
from pydantic import Field

from intrinsics_core import Call, context_relevance
from intrinsics_core.protocol.results import ContextRelevance


class ContextRelevanceEvaluator(IntrinsicEvaluator):
    """Does what was retrieved help to answer the query? Passing where one of the contexts does; the score is the best
    one's. ``verdict["judgements"]`` has a judgement for each.

    Args:
        threshold: passing from this score on, whatever the labels; None: by the labels.

    Example:
        >>> from llama_index.evaluation.rag_intrinsics import ContextRelevanceEvaluator
        >>> ContextRelevanceEvaluator().evaluate(
        ...     query="Who built the tide mill?", contexts=["Ada Brink built the tide mill in 1911."]).passing
        True
    """

    intrinsic: ClassVar[str] = "context-relevance"

    threshold: float | None = Field(default=None, ge=0, le=1)

    def _ask(self, given: EvaluatorInput) -> Call[ContextRelevance]:
        return context_relevance(given.question, given.documents, **self._settings())

    def _score(self, result: ContextRelevance) -> Score:
        rows = result.judgements
        best = max((row.score for row in rows if row.score is not None), default=None)
        passing = reached(best, self.threshold, any(row.label != "irrelevant" for row in rows))
        return Score(bool(passing), best, "\n".join(f"{row.document_id}: {row.label}" for row in rows))
