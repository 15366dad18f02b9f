"""Context relevance evaluator."""

from typing import ClassVar

from haystack import component
from haystack_integrations.components.evaluators.rag_intrinsics.rows import ContextEvaluator

from intrinsics_core.protocol.results import ContextRelevance


@component
class RagIntrinsicsContextRelevanceEvaluator(ContextEvaluator):
    """
    Says which share of what was retrieved for each question helps to answer it.

    Takes what Haystack's own evaluators take, and its outputs make an `EvaluationRunResult`. A row that could not be
    judged is `"error"` in its result's `status`, with the reason, and not in the mean; its individual
    score is NaN. A row without contexts is in the mean with a score of 0: its retriever found nothing.

    Usage example:

    ```python
    from haystack_integrations.components.evaluators.rag_intrinsics import RagIntrinsicsContextRelevanceEvaluator

    evaluator = RagIntrinsicsContextRelevanceEvaluator()
    result = evaluator.run(
        questions=["Who built the tide mill?"],
        contexts=[["Ada Brink built the tide mill in 1911.", "Fog is common in May."]],
    )
    print(result["score"])
    # 0.5
    ```
    """

    intrinsic: ClassVar[str] = "context-relevance"

    def _score(self, result: ContextRelevance) -> float | None:
        helpful = [row for row in result.judgements if row.label != "irrelevant"]
        return len(helpful) / len(result.judgements) if result.judgements else 0.0
