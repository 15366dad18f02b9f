"""Answer evaluator."""

from collections.abc import Sequence
from statistics import mean
from typing import Any, ClassVar, get_args

from haystack import component
from haystack_integrations.common.rag_intrinsics.base import listed
from haystack_integrations.components.evaluators.rag_intrinsics.rows import RowEvaluator, column_of

from intrinsics_core import Profile
from intrinsics_core.protocol.results import Evaluation, Metric


@component
class RagIntrinsicsAnswerEvaluator(RowEvaluator):
    """
    Rates, explains and cites answers: faithfulness, instruction following, coherence, completeness.

    Takes what Haystack's own evaluators take. A row's score is the mean of its metrics'; `metrics` has each metric as
    an output of its own, so that `EvaluationRunResult(..., results=found["metrics"])` compares them. The embedded
    runtime rates faithfulness alone, and says why it does not rate the others; a language model rates all four. A row
    that could not be judged is `"error"` in its result's `status`, with the reason, and not in the mean.

    Usage example:

    ```python
    from haystack_integrations.components.evaluators.rag_intrinsics import RagIntrinsicsAnswerEvaluator

    evaluator = RagIntrinsicsAnswerEvaluator(metrics="faithfulness")
    result = evaluator.run(
        questions=["Who built the tide mill?"],
        contexts=[["Ada Brink built the tide mill in 1911."]],
        predicted_answers=["Ada Brink built the tide mill in 1911."],
    )
    print(result["results"][0]["metrics"][0]["rating"])
    # yes
    ```
    """

    intrinsic: ClassVar[str] = "evaluate"
    _options: ClassVar[Sequence[str]] = ("metrics",)

    def __init__(
        self,
        runtime: Any = None,
        *,
        metrics: Metric | Sequence[Metric] | None = None,
        profile: Profile | str | None = None,
        on_error: str = "fallback",
        date: str | None = None,
    ) -> None:
        """
        Create an evaluator. Nothing is loaded before `warm_up` or the first run.

        :param runtime: Where the work is done: a config such as `{"kind": "server", "base_url": ..., "api_key":
            Secret}`, a chat generator, or a runtime of the core; None for the embedded encoder (offline, CPU).
        :param metrics: Which of the four, one or several; those that the runtime can rate where left out.
        :param profile: A profile or its name; the runtime's own where left out.
        :param on_error: `"fallback"`: a row whose judgement failed is reported as an error and the others stand; or
            `"raise"`.
        :param date: Date text for prompts that carry one; the day of the call where left out.
        """
        self._keep(runtime, profile, on_error, date)
        self.metrics = None if metrics is None else listed("metrics", metrics, get_args(Metric))

    @component.output_types(score=float, individual_scores=list[float], results=list[dict[str, Any]],
                            metrics=dict[str, Any])  # fmt: skip
    def run(self, questions: list[str], contexts: list[list[str]], predicted_answers: list[str]) -> dict[str, Any]:
        """
        Evaluate rows.

        :param questions: A question a row.
        :param contexts: What was retrieved for each.
        :param predicted_answers: What was answered.
        :returns: `score`: the mean of the rows that were judged; `individual_scores`: one a row, NaN where there is no
            verdict; `results`: a row's `status`, `score`, `reason` and ratings; `metrics`: `score` and
            `individual_scores` by metric.
        :raises IntrinsicsError: Bad input is an InvalidInput that names it; see `intrinsics_core.protocol.errors`.
        """
        return self._evaluated(questions, contexts, predicted_answers)

    @component.output_types(score=float, individual_scores=list[float], results=list[dict[str, Any]],
                            metrics=dict[str, Any])  # fmt: skip
    async def run_async(
        self, questions: list[str], contexts: list[list[str]], predicted_answers: list[str]
    ) -> dict[str, Any]:
        """Like `run`, without blocking the event loop."""
        return await self._aevaluated(questions, contexts, predicted_answers)

    def _score(self, result: Evaluation) -> float | None:
        scores = [metric.score for metric in result.metrics if metric.score is not None]
        return mean(scores) if scores else None

    def _summary(self, results: Sequence[dict[str, Any]]) -> dict[str, Any]:
        rows = [{metric["name"]: metric["score"] for metric in row.get("metrics", ())} for row in results]
        names = dict.fromkeys(name for row in rows for name, score in row.items() if score is not None)
        return {"metrics": {name: column_of([row.get(name) for row in rows]) for name in names}}
