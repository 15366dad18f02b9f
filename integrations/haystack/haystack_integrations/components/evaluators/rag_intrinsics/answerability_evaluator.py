"""Answerability evaluator."""

from typing import Any, ClassVar

from haystack import component
from haystack_integrations.components.evaluators.rag_intrinsics.rows import RowEvaluator

from intrinsics_core.results import Answerability


@component
class RagIntrinsicsAnswerabilityEvaluator(RowEvaluator):
    """
    Says how likely what was retrieved answers each question: an evaluation of the retriever.

    Takes what Haystack's own evaluators take, and its outputs make an `EvaluationRunResult`. A row that could not be
    judged is `"error"` in its result's `status`, with the reason, and not in the mean; its individual
    score is 0. Nothing retrieved is a score of 0.

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

    @component.output_types(score=float, individual_scores=list[float], results=list[dict[str, Any]])
    def run(self, questions: list[str], contexts: list[list[str]]) -> dict[str, Any]:
        """
        Evaluate rows.

        :param questions: A question a row.
        :param contexts: What was retrieved for each.
        :returns: `score`: the mean of the rows that were judged; `individual_scores`: one a row, 0 where there is no
            verdict; `results`: a row's `status`, `score`, `reason` and verdict.
        :raises IntrinsicsError: Bad input is an InvalidInput that names it; see `intrinsics_core.errors`.
        """
        return self._evaluated(questions, contexts)

    @component.output_types(score=float, individual_scores=list[float], results=list[dict[str, Any]])
    async def run_async(self, questions: list[str], contexts: list[list[str]]) -> dict[str, Any]:
        """
        Evaluate rows without blocking the event loop.

        :param questions: A question a row.
        :param contexts: What was retrieved for each.
        :returns: `score`: the mean of the rows that were judged; `individual_scores`: one a row, 0 where there is no
            verdict; `results`: a row's `status`, `score`, `reason` and verdict.
        :raises IntrinsicsError: Bad input is an InvalidInput that names it; see `intrinsics_core.errors`.
        """
        return await self._aevaluated(questions, contexts)

    def _score(self, result: Answerability) -> float | None:
        return result.probability
