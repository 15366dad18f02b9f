"""Evaluator (REC: rate, explain, cite)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from intrinsics_core.intrinsics import TABLE
from intrinsics_core.intrinsics.options import probed
from intrinsics_core.protocol.results import Evaluation
from langchain_rag_intrinsics._answering import AnswerIntrinsic


class Evaluator(AnswerIntrinsic):
    """Rates an answer by faithfulness, instruction following, coherence and completeness, and says why, with citations.

    Takes ``{"question" | "messages", "documents"?, "answer"}``; returns a copy of the answer whose
    ``response_metadata["rag_intrinsics"]["evaluate"]`` holds for each metric a rating, the probability of "yes", an
    explanation, and statements with verbatim citations. With ``return_result=True`` it returns the core's Evaluation.
    The embedded runtime rates faithfulness, and gives the reason why not the others; a language model rates all.

    :meth:`for_langsmith` gives the same as an evaluator of LangSmith's ``evaluate``.

    Args:
        metrics: some of ``"faithfulness"``, ``"instruction-following"``, ``"coherence"``, ``"completeness"``, or the
            one; None for all that the runtime can rate.

    Example:
        >>> from langchain_rag_intrinsics import Evaluator
        >>> rated = Evaluator(metrics=["faithfulness"], return_result=True).invoke({
        ...     "question": "Who built the tide mill?",
        ...     "documents": ["Ada Brink built the tide mill in 1911."],
        ...     "answer": "Ada Brink built the tide mill in 1911.",
        ... })
        >>> rated.metrics[0].rating
        'yes'
    """

    intrinsic: ClassVar[str] = "evaluate"
    _options: ClassVar[Sequence[str]] = ("metrics",)

    metrics: str | tuple[str, ...] | None = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # A name that there is not is told now, and not at the first answer.
        probed(TABLE[self.intrinsic], {"metrics": self.metrics})

    def for_langsmith(self) -> Callable[..., list[dict[str, Any]]]:
        """An evaluator as LangSmith takes it: ``client.evaluate(app, data=..., evaluators=[rec.for_langsmith()])``.

        It reads the question from an example's inputs, the answer and the documents from the app's outputs (documents
        may be among the inputs too), all under the keys that components read, and gives a score and a comment for each
        metric that was rated. A metric that could not be rated has no score.
        """

        def rag_intrinsics(inputs: Mapping[str, Any], outputs: Mapping[str, Any]) -> list[dict[str, Any]]:
            found: Evaluation = self.returning_result().invoke({**inputs, **outputs})
            return [
                {"key": m.name, "score": m.score, "value": m.rating, "comment": m.explanation or m.reason}
                for m in found.metrics
            ]

        return rag_intrinsics
