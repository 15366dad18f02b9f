"""Answerability evaluator."""

from typing import Any, ClassVar

from haystack import component
from haystack_integrations.components.evaluators.rag_intrinsics.rows import RowEvaluator

from intrinsics_core import Profile
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

    def __init__(
        self,
        runtime: Any = None,
        *,
        profile: Profile | str | None = None,
        on_error: str = "fallback",
        date: str | None = None,
    ) -> None:
        """
        Create an evaluator. Nothing is loaded before `warm_up` or the first run.

        :param runtime: Where the work is done: a config such as `{"kind": "server", "base_url": ..., "api_key":
            Secret}`, a chat generator, or a runtime of the core; None for the embedded encoder (offline, CPU).
        :param profile: A profile or its name; the runtime's own where left out.
        :param on_error: `"fallback"`: a row whose judgement failed is told as an error and the others stand; or
            `"raise"`.
        :param date: Date text for prompts that carry one; the day of the call where left out.
        """
        self._keep(runtime, profile, on_error, date)

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
        return self._evaluated({"questions": questions, "contexts": contexts})

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
        return await self._aevaluated({"questions": questions, "contexts": contexts})

    def _score(self, result: Answerability) -> float | None:
        return result.probability
