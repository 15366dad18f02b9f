"""Context relevance."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from llama_index.evaluation.rag_intrinsics._evaluator import IntrinsicEvaluator, Score, Threshold, scored

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

    threshold: Threshold = None

    def _score(self, result: ContextRelevance) -> Score:
        rows = result.judgements
        best = max((row.score for row in rows if row.score is not None), default=None)
        said = "\n".join(f"{row.document_id}: {row.label}" for row in rows)
        found = scored(best, self.threshold, any(row.label != "irrelevant" for row in rows), said)
        return replace(found, passing=bool(found.passing))
