"""Evaluators in Haystack's sense: lists in, a score for each row and one for all out. One failed row is one row."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from haystack import Document, component, logging
from haystack_integrations.common.rag_intrinsics.base import Intrinsic
from haystack_integrations.common.rag_intrinsics.pipeline_input import by_fields, passage

from intrinsics_core import INTRINSICS, Call, IntrinsicsError, InvalidInput, Profile
from intrinsics_core.protocol.results import Result

_log = logging.getLogger(__name__)


class RowEvaluator(Intrinsic):
    """A component that judges rows by one intrinsic. A subclass says what score a verdict is."""

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
        :param on_error: `"fallback"`: a row whose judgement failed is reported as an error and the others stand; or
            `"raise"`.
        :param date: Date text for prompts that carry one; the day of the call where left out.
        """
        self._keep(runtime, profile, on_error, date)

    def _score(self, result: Any) -> float | None:
        """The score of a verdict, from 0 to 1; None where there was nothing to judge."""
        raise NotImplementedError

    def _extras(self, result: Any) -> dict[str, Any]:
        """What else a row says."""
        return {}

    def _summary(self, results: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """What else all rows say together."""
        return {}

    def _rows(self, columns: Sequence[Any]) -> list[Call[Any] | IntrinsicsError]:
        lengths = {
            name: len(_listed(name, values, self.intrinsic)) for name, values in zip(_NAMES, columns, strict=False)
        }
        if len(set(lengths.values())) > 1:
            raise InvalidInput("the lists have different lengths", intrinsic=self.intrinsic,
                               expected="one entry a row in each", got=repr(lengths))  # fmt: skip
        return [self._row(at, *row) for at, row in enumerate(zip(*columns, strict=True))]

    def _row(self, at: int, question: Any, contexts: Any, *answer: Any) -> Call[Any] | IntrinsicsError:
        messages = [{"role": "user", "content": _text(f"questions[{at}]", question, self.intrinsic)}]
        for said in answer:
            text = by_fields(_text(f"{_ANSWERS}[{at}]", said, self.intrinsic))
            messages.append({"role": "assistant", "content": text})
        name = f"contexts[{at}]"
        documents = [_content(name, value, self.intrinsic) for value in _listed(name, contexts, self.intrinsic)]
        try:
            return INTRINSICS[self.intrinsic](messages, documents, **self._settings())
        except InvalidInput as error:  # a blank question, say: one row's trouble
            return error

    def _evaluated(self, *columns: Any) -> dict[str, Any]:
        return self._summed(self._outcomes(self._rows(columns)))

    async def _aevaluated(self, *columns: Any) -> dict[str, Any]:
        return self._summed(await self._aoutcomes(self._rows(columns)))

    def _summed(self, outcomes: Sequence[Result | IntrinsicsError]) -> dict[str, Any]:
        results = [self._outcome(outcome) for outcome in outcomes]
        if failed := sum(row["status"] == ERROR for row in results):
            _log.warning("{failed} of {all} rows could not be judged and are not in the score; see results",
                         failed=failed, all=len(results))  # fmt: skip
        own = self._summary(results)
        return {**column_of([row["score"] for row in results]), "results": results, **own}

    def _outcome(self, outcome: Result | IntrinsicsError) -> dict[str, Any]:
        if isinstance(outcome, IntrinsicsError):
            if self.on_error == "raise":
                raise outcome
            return {"status": ERROR, "score": None, "reason": f"{type(outcome).__name__}: {outcome}"}
        dump = outcome.model_dump(mode="json")
        score = self._score(outcome)
        why = {"reason": outcome.reason or outcome.degraded or _NOTHING} if score is None else {}
        unscored = ERROR if outcome.degraded else NOTHING
        status = {"status": EVALUATED if score is not None else unscored, "score": score}
        return {**dump, **status, **why, **self._extras(outcome)}


class ContextEvaluator(RowEvaluator):
    """A component that judges what was retrieved for each question."""

    @component.output_types(score=float, individual_scores=list[float], results=list[dict[str, Any]])
    def run(self, questions: list[str], contexts: list[list[str]]) -> dict[str, Any]:
        """
        Evaluate rows.

        :param questions: A question a row.
        :param contexts: What was retrieved for each.
        :returns: `score`: the mean of the rows that were judged; `individual_scores`: one a row, NaN where there is no
            verdict; `results`: a row's `status`, `score`, `reason` and verdict.
        :raises IntrinsicsError: Bad input is an InvalidInput that names it; see `intrinsics_core.protocol.errors`.
        """
        return self._evaluated(questions, contexts)

    @component.output_types(score=float, individual_scores=list[float], results=list[dict[str, Any]])
    async def run_async(self, questions: list[str], contexts: list[list[str]]) -> dict[str, Any]:
        """Like `run`, without blocking the event loop."""
        return await self._aevaluated(questions, contexts)


def column_of(scores: Sequence[float | None]) -> dict[str, Any]:
    """What an `EvaluationRunResult` takes of a metric: the mean of the rows that have one, and NaN for each other."""
    rated = [score for score in scores if score is not None]
    mean = sum(rated) / len(rated) if rated else math.nan
    return {"score": mean, "individual_scores": [math.nan if score is None else score for score in scores]}


_ANSWERS = "predicted_answers"
_NAMES = ("questions", "contexts", _ANSWERS)
EVALUATED, NOTHING, ERROR = "evaluated", "nothing to judge", "error"
_NOTHING = "nothing in the answer makes a claim"


def _listed(name: str, values: Any, intrinsic: str) -> list[Any]:
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        raise InvalidInput(f"{name} is not a list", intrinsic=intrinsic, expected="a list", got=type(values).__name__)
    return list(values)


def _content(name: str, value: Any, intrinsic: str) -> str | dict[str, Any]:
    return passage(value) if isinstance(value, Document) else _text(name, value, intrinsic)


def _text(name: str, value: Any, intrinsic: str) -> str:
    if not isinstance(value, str):
        raise InvalidInput(f"{name} is not text", intrinsic=intrinsic, expected="a string", got=type(value).__name__)
    return value
