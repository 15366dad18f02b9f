"""Evaluator."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import mean
from typing import Any

from haystack import Document, component, logging
from haystack_integrations.common.rag_intrinsics.base import Intrinsic
from haystack_integrations.common.rag_intrinsics.pipeline_input import by_fields, passage

from intrinsics_core import Call, IntrinsicsError, InvalidInput, Profile
from intrinsics_core.intrinsics import TABLE
from intrinsics_core.intrinsics.options import from_json
from intrinsics_core.protocol.names import named
from intrinsics_core.protocol.results import ContextRelevance, Evaluation, HallucinationDetection, Result

_log = logging.getLogger(__name__)
_ANSWERS = "predicted_answers"
_EVALUATED, _NOTHING, _ERROR = "evaluated", "nothing to judge", "error"


@component
class RagIntrinsicsEvaluator(Intrinsic):
    """
    Scores rows of questions, contexts and answers by one metric, as Haystack's own evaluators do.

    Its outputs make an `EvaluationRunResult`. A row that could not be judged is `"error"` in its result's `status`, and
    one without a context or an answer `"nothing to judge"`, with the reason: neither is in the mean, and both have the
    individual score NaN. Where the retriever is evaluated, a row without contexts is in the mean with a score of 0.

    Usage example:

    ```python
    from haystack_integrations.components.evaluators.rag_intrinsics import RagIntrinsicsEvaluator

    evaluator = RagIntrinsicsEvaluator("hallucination-detection")
    result = evaluator.run(
        questions=["Who built the tide mill?"],
        contexts=[["Ada Brink built the tide mill in 1911.", "Fog is common in May."]],
        predicted_answers=["Ada Brink built the tide mill in 1911."],
    )
    print(result["results"][0]["label"], result["score"] == result["individual_scores"][0])
    # faithful True
    ```
    """

    def __init__(self, metric: str, runtime: Any = None, *, options: Mapping[str, Any] | None = None,
                 profile: Profile | str | None = None, on_error: str = "fallback",
                 date: str | None = None) -> None:  # fmt: skip
        """
        Create an evaluator. Nothing is loaded before `warm_up` or the first run.

        :param metric: Of answers: `"hallucination-detection"` (faithfulness: how far the contexts support it),
            `"answer-relevance"`, `"fact-check"`, `"uncertainty"` (certainty), or `"evaluate"` (the mean of several
            ratings: the embedded runtime rates faithfulness alone, a language model instruction following, coherence
            and completeness, too; each is then in the output `metrics`). Of the retriever: `"answerability"` (the
            probability that the contexts answer the question) or `"context-relevance"` (the share of them that helps).
        :param runtime: A config (`{"kind": "server", "base_url": ...}`), a chat generator or a runtime; None: embedded.
        :param options: Further arguments of the metric by name: `{"metrics": ["faithfulness"]}` of `"evaluate"`.
        :param profile: A profile or its name; the runtime's own where left out.
        :param on_error: `"fallback"`: a row whose judgement failed is an error and the others stand; or `"raise"`.
        :param date: Date text for prompts that carry one; the day of the call where left out.
        :raises InvalidInput: If `metric` or one of the `options` is unknown.
        """
        self.metric = self.intrinsic = named("metric", metric, _SCORES)  # type: ignore[misc]
        Intrinsic.__init__(self, runtime, profile=profile, on_error=on_error, date=date)
        self.options = from_json(TABLE[self.metric], options or {}, called="option")

    @component.output_types(score=float, individual_scores=list[float], results=list[dict[str, Any]],
                            metrics=dict[str, Any])  # fmt: skip
    def run(
        self, questions: list[str], contexts: list[list[str]], predicted_answers: list[str] | None = None
    ) -> dict[str, Any]:
        """
        Evaluate rows.

        :param questions: A question a row.
        :param contexts: What was retrieved for each: texts, or documents, whose titles are then read.
        :param predicted_answers: What was answered; a metric of the retriever needs none.
        :returns: `score`: the mean of the rows that were judged; `individual_scores`: one a row, NaN where there is no
            verdict; `results`: a row's `status`, `score`, `reason` and verdict; `metrics`: `score` and
            `individual_scores` by the rating's name, of `"evaluate"` alone.
        :raises IntrinsicsError: Bad input is an InvalidInput that names it; see `intrinsics_core.protocol.errors`.
        """
        return self._summed(self._outcomes(self._rows(questions, contexts, predicted_answers)))

    @component.output_types(score=float, individual_scores=list[float], results=list[dict[str, Any]],
                            metrics=dict[str, Any])  # fmt: skip
    async def run_async(
        self, questions: list[str], contexts: list[list[str]], predicted_answers: list[str] | None = None
    ) -> dict[str, Any]:
        """Like `run`, without blocking the event loop."""
        return self._summed(await self._aoutcomes(self._rows(questions, contexts, predicted_answers)))

    def _rows(self, questions: Any, contexts: Any, answers: Any) -> list[Call[Any] | IntrinsicsError]:
        columns = {"questions": questions, "contexts": contexts}
        if TABLE[self.metric].judges_answers:
            columns[_ANSWERS] = answers
        read = {name: self._listed(name, values) for name, values in columns.items()}
        lengths = {name: len(values) for name, values in read.items()}
        if len(set(lengths.values())) > 1:
            raise InvalidInput("the lists have different lengths", intrinsic=self.metric,
                               expected="one entry a row in each", got=repr(lengths))  # fmt: skip
        return [self._row(at, *row) for at, row in enumerate(zip(*read.values(), strict=True))]

    def _row(self, at: int, question: Any, contexts: Any, *answer: Any) -> Call[Any] | IntrinsicsError:
        messages = [{"role": "user", "content": self._text(f"questions[{at}]", question)}]
        for said in answer:
            text = by_fields(self._text(f"{_ANSWERS}[{at}]", said))
            messages.append({"role": "assistant", "content": text})
        name = f"contexts[{at}]"
        found = [passage(c) if isinstance(c, Document) else self._text(name, c) for c in self._listed(name, contexts)]
        try:
            return TABLE[self.metric].function(messages, found, date=self.date, **self.options)
        except InvalidInput as error:  # a blank question, say: one row's trouble
            return error

    def _summed(self, outcomes: Sequence[Result | IntrinsicsError]) -> dict[str, Any]:
        results = [self._result_of(outcome) for outcome in outcomes]
        if failed := sum(row["status"] == _ERROR for row in results):
            _log.warning("{failed} of {all} rows could not be judged and are not in the score; see results",
                         failed=failed, all=len(results))  # fmt: skip
        rated = [{each["name"]: each["score"] for each in row.get("metrics", ())} for row in results]
        names = dict.fromkeys(name for row in rated for name, score in row.items() if score is not None)
        metrics = {name: _column([row.get(name) for row in rated]) for name in names}
        return {**_column([row["score"] for row in results]), "results": results, "metrics": metrics}

    def _result_of(self, outcome: Result | IntrinsicsError) -> dict[str, Any]:
        if isinstance(outcome, IntrinsicsError):
            if self.on_error == "raise":
                raise outcome
            return {"status": _ERROR, "score": None, "reason": f"{type(outcome).__name__}: {outcome}"}
        dump, score = outcome.model_dump(mode="json"), _SCORES[self.metric](outcome)
        if isinstance(outcome, HallucinationDetection):  # as Haystack's own evaluator says it
            claims = [sentence for sentence in outcome.sentences if sentence.score is not None]
            dump |= {"statements": [s.text for s in claims], "statement_scores": [s.score for s in claims]}
        if score is not None:
            return {**dump, "status": _EVALUATED, "score": score}
        why = outcome.reason or outcome.degraded or "nothing in the answer makes a claim"
        return {**dump, "status": _ERROR if outcome.degraded else _NOTHING, "score": None, "reason": why}

    def _listed(self, name: str, values: Any) -> list[Any]:
        if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
            raise InvalidInput(f"{name} is not a list", intrinsic=self.metric, expected="a list",
                               got=type(values).__name__)  # fmt: skip
        return list(values)

    def _text(self, name: str, value: Any) -> str:
        if not isinstance(value, str):
            raise InvalidInput(f"{name} is not text", intrinsic=self.metric, expected="a string",
                               got=type(value).__name__)  # fmt: skip
        return value


def _column(scores: Sequence[float | None]) -> dict[str, Any]:
    """What an `EvaluationRunResult` takes of a metric: the mean of the rows that have one, and NaN for each other."""
    rated = [score for score in scores if score is not None]
    individual = [math.nan if score is None else score for score in scores]
    return {"score": mean(rated) if rated else math.nan, "individual_scores": individual}


def _share(result: ContextRelevance) -> float | None:
    helpful = [row for row in result.judgements if row.label != "irrelevant"]
    return len(helpful) / len(result.judgements) if result.judgements else 0.0


def _rating(result: Evaluation) -> float | None:
    scores = [metric.score for metric in result.metrics if metric.score is not None]
    return mean(scores) if scores else None


# By metric, the score of a verdict, from 0 to 1; None where there was nothing to judge.
_SCORES: dict[str, Callable[[Any], float | None]] = {
    "hallucination-detection": lambda result: result.score,
    "answer-relevance": lambda result: result.score,
    "fact-check": lambda result: result.score,
    "uncertainty": lambda result: result.certainty,
    "evaluate": _rating,
    "answerability": lambda result: result.probability,
    "context-relevance": _share,
}
