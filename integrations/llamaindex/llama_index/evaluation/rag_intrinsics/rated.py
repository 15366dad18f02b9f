"""Rate, explain and cite."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar

from llama_index.evaluation.rag_intrinsics._evaluator import IntrinsicEvaluator, Score, Threshold
from llama_index.rag_intrinsics._settings import Several

from intrinsics_core.intrinsics import TABLE
from intrinsics_core.intrinsics.options import probed
from intrinsics_core.protocol.results import Evaluation


class RatedEvaluator(IntrinsicEvaluator):
    """The response rated, with an explanation whose statements cite the response, the question and the contexts.

    Passing where every metric that could be rated is; the score is the mean of their probabilities. For a result per
    metric, as ``BatchEvalRunner`` tells them apart, give it one evaluator for each. ``verdict["metrics"]`` has rating,
    explanation and citations of each. Without a language model as ``runtime`` faithfulness alone is rated.

    Args:
        metrics: one of ``"faithfulness"``, ``"instruction-following"``, ``"coherence"``, ``"completeness"``, or
            several; None for all that the runtime can rate.
        threshold: passing from this mean on, whatever the ratings; None: by the ratings.

    Example:
        >>> from llama_index.evaluation.rag_intrinsics import RatedEvaluator
        >>> found = RatedEvaluator(metrics="faithfulness").evaluate(
        ...     query="Who built the tide mill?", response="Ada Brink built the tide mill in 1911.",
        ...     contexts=["Ada Brink built the tide mill in 1911."])
        >>> found.passing, found.verdict["metrics"][0]["statements"][0]["citations"][1]["source"]
        (True, 'documents[0]')
    """

    intrinsic: ClassVar[str] = "evaluate"
    _options: ClassVar[Sequence[str]] = ("metrics",)

    metrics: Annotated[Sequence[str] | str | None, Several] = None
    threshold: Threshold = None

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        # A name that there is not is told now, and not at the first answer.
        probed(TABLE[self.intrinsic], {"metrics": self.metrics})

    def _score(self, result: Evaluation) -> Score:
        rated = [metric for metric in result.metrics if metric.rating is not None]
        scores = [metric.score for metric in rated if metric.score is not None]
        mean = sum(scores) / len(scores) if scores else None
        feedback = "\n".join(f"{m.name}: {m.rating or 'not rated'}. {m.explanation or m.reason or ''}".strip()
                             for m in result.metrics)  # fmt: skip
        if not rated:
            return Score(None, None, feedback)
        if self.threshold is not None and mean is not None:
            return Score(mean >= self.threshold, mean, feedback)
        return Score(all(metric.rating == "yes" for metric in rated), mean, feedback)
