"""Answerability evaluator."""

from typing import ClassVar

from haystack import component
from haystack_integrations.components.evaluators.rag_intrinsics.rows import ContextEvaluator

from intrinsics_core.protocol.results import Answerability


@component
class RagIntrinsicsAnswerabilityEvaluator(ContextEvaluator):
    """
    Says how likely what was retrieved answers each question: an evaluation of the retriever.

    Takes what Haystack's own evaluators take, and its outputs make an `EvaluationRunResult`. A row that could not be
    judged is `"error"` in its result's `status`, with the reason, and not in the mean; its individual
    score is NaN. A row without contexts is in the mean with a score of 0: its retriever found nothing.

    Usage example:

    ```python
    from haystack_integrations.components.evaluators.rag_intrinsics import RagIntrinsicsAnswerabilityEvaluator

    evaluator = RagIntrinsicsAnswerabilityEvaluator()
    result = evaluator.run(
        questions=["Who built the tide mill?"],
        contexts=[["Ada Brink built the tide mill in 1911.", "Fog is common in May."]],
    )
    print(result["results"][0]["label"])
    # answerable
    ```
    """

    intrinsic: ClassVar[str] = "answerability"

    def _score(self, result: Answerability) -> float | None:
        return result.probability
