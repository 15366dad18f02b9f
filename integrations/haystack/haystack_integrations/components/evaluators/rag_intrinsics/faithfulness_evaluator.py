"""Faithfulness evaluator."""

from typing import Any, ClassVar

from haystack import component
from haystack_integrations.components.evaluators.rag_intrinsics.rows import RowEvaluator

from intrinsics_core.protocol.results import HallucinationDetection


@component
class RagIntrinsicsFaithfulnessEvaluator(RowEvaluator):
    """
    Says how far answers are supported by what was retrieved, sentence by sentence.

    Takes what Haystack's own evaluators take, and its outputs make an `EvaluationRunResult`. A row that could not be
    judged is `"error"` in its result's `status`, with the reason, and one without contexts
    or without an answer `"nothing to judge"`: neither is in the mean, and both have the individual score NaN.

    Usage example:

    ```python
    from haystack_integrations.components.evaluators.rag_intrinsics import RagIntrinsicsFaithfulnessEvaluator

    evaluator = RagIntrinsicsFaithfulnessEvaluator()
    result = evaluator.run(
        questions=["Who built the tide mill?"],
        contexts=[["Ada Brink built the tide mill in 1911.", "Fog is common in May."]],
        predicted_answers=["Ada Brink built the tide mill in 1911."],
    )
    print(result["results"][0]["label"], result["score"] == result["individual_scores"][0])
    # faithful True
    ```
    """

    intrinsic: ClassVar[str] = "hallucination-detection"

    @component.output_types(score=float, individual_scores=list[float], results=list[dict[str, Any]])
    def run(self, questions: list[str], contexts: list[list[str]], predicted_answers: list[str]) -> dict[str, Any]:
        """
        Evaluate rows.

        :param questions: A question a row.
        :param contexts: What was retrieved for each.
        :param predicted_answers: What was answered.
        :returns: `score`: the mean of the rows that were judged; `individual_scores`: one a row, NaN where there is no
            verdict; `results`: a row's `status`, `score`, `reason` and verdict.
        :raises IntrinsicsError: Bad input is an InvalidInput that names it; see `intrinsics_core.protocol.errors`.
        """
        return self._evaluated(questions, contexts, predicted_answers)

    @component.output_types(score=float, individual_scores=list[float], results=list[dict[str, Any]])
    async def run_async(
        self, questions: list[str], contexts: list[list[str]], predicted_answers: list[str]
    ) -> dict[str, Any]:
        """Like `run`, without blocking the event loop."""
        return await self._aevaluated(questions, contexts, predicted_answers)

    def _score(self, result: HallucinationDetection) -> float | None:
        return None if result.reason else result.score

    def _extras(self, result: HallucinationDetection) -> dict[str, Any]:
        claims = [sentence for sentence in result.sentences if sentence.score is not None]
        return {"statements": [s.text for s in claims], "statement_scores": [s.score for s in claims]}
