"""The base of the evaluators: read what is evaluated, run one call of the core, say it in LlamaIndex's types."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from llama_index.core.base.response.schema import Response
from llama_index.core.evaluation import BaseEvaluator, EvaluationResult
from llama_index.core.instrumentation import get_dispatcher  # type: ignore[attr-defined]
from llama_index.core.llms import ChatMessage
from llama_index.core.schema import MetadataMode, NodeWithScore, QueryBundle
from llama_index.rag_intrinsics._component import IntrinsicComponent
from llama_index.rag_intrinsics._inputs import Calls, conversation, distinct, passages
from llama_index.rag_intrinsics._responses import answer_of, calls_of, sources_of
from pydantic import Field

from intrinsics_core import InvalidInput
from intrinsics_core.intrinsics import TABLE
from intrinsics_core.protocol.results import Result

dispatcher = get_dispatcher(__name__)

Threshold = Annotated[float | None, Field(ge=0, le=1)]


class IntrinsicEvaluation(EvaluationResult):
    """An evaluation result with the whole verdict beside it: what the command line writes for the intrinsic."""

    verdict: dict[str, Any] = Field(default_factory=dict)


@dataclass(frozen=True)
class EvaluatorInput:
    """What is evaluated."""

    query: str | QueryBundle | None
    response: str | None
    contexts: Sequence[str | NodeWithScore]
    history: Sequence[ChatMessage] | None
    shown: MetadataMode
    calls: Calls = ()

    @property
    def documents(self) -> list[Any]:
        """The contexts, in order; texts and nodes may be mixed."""
        nodes = [c for c in self.contexts if isinstance(c, NodeWithScore)]
        if len(nodes) < len(self.contexts):
            return [passages([c], self.shown)[0] if isinstance(c, NodeWithScore) else c for c in self.contexts]
        return passages(distinct(nodes), self.shown)

    def messages(self, intrinsic: str) -> list[dict[str, Any]]:
        """The conversation up to the question; up to the answer, where there is one and the intrinsic judges it."""
        answer = self.response if TABLE[intrinsic].judges_answers else None
        return conversation(self.query, answer, self.history, self.calls)


@dataclass(frozen=True)
class Score:
    """What an evaluator makes of a result. ``score`` is in 0..1."""

    passing: bool | None
    score: float | None
    feedback: str


def scored(score: float | None, threshold: float | None, otherwise: bool, feedback: str) -> Score:
    """Passing where the score reaches the threshold; ``otherwise`` where none is set, None where there is no score."""
    passing = otherwise if threshold is None else None if score is None else score >= threshold
    return Score(passing, score, feedback)


class IntrinsicEvaluator(IntrinsicComponent, BaseEvaluator):
    """Evaluates ``query``, ``response`` and ``contexts`` (texts, or the nodes themselves), or a response object with
    its source nodes. ``chat_history=`` brings the turns before the query, ``tool_calls=`` what an agent called for the
    answer (``name``, ``arguments`` and ``result`` of each). Returns an :class:`IntrinsicEvaluation`.

    Where the judge failed, the result is marked as invalid, with the reason, and passes nothing: ``passing`` is None.
    So one outage does not cost a whole run of a ``BatchEvalRunner``; ``on_error="raise"`` raises instead. Where there
    was nothing to judge (an empty answer, nothing retrieved), ``passing`` is None too and ``feedback`` says why.
    """

    on_error: str = "fallback"
    metadata_mode: MetadataMode = MetadataMode.LLM

    @abstractmethod
    def _score(self, result: Any) -> Score:
        """The result in LlamaIndex's terms."""

    @dispatcher.span
    def evaluate(
        self,
        query: str | QueryBundle | None = None,
        response: str | None = None,
        contexts: Sequence[str | NodeWithScore] | None = None,
        chat_history: Sequence[ChatMessage] | None = None,
        tool_calls: Calls = (),
        **kwargs: Any,
    ) -> IntrinsicEvaluation:
        """Evaluate. Works inside a running event loop too (it blocks it; prefer :meth:`aevaluate` there).

        Raises:
            IntrinsicsError: see :mod:`intrinsics_core.protocol.errors`.
        """
        given = self._given(query, response, contexts, chat_history, tool_calls)
        return self._evaluation(given, self._result(self._ask(given.messages(self.intrinsic), given.documents)))

    @dispatcher.span
    async def aevaluate(
        self,
        query: str | QueryBundle | None = None,
        response: str | None = None,
        contexts: Sequence[str | NodeWithScore] | None = None,
        chat_history: Sequence[ChatMessage] | None = None,
        tool_calls: Calls = (),
        **kwargs: Any,
    ) -> IntrinsicEvaluation:
        """Like :meth:`evaluate`, without ever blocking the event loop."""
        given = self._given(query, response, contexts, chat_history, tool_calls)
        call = self._ask(given.messages(self.intrinsic), given.documents)
        return self._evaluation(given, await self._aresult(call))

    def evaluate_response(
        self, query: str | QueryBundle | None = None, response: Response | None = None, **kwargs: Any
    ) -> IntrinsicEvaluation:
        """Evaluate a response of any of LlamaIndex's classes by its source nodes, whose ids the verdict names."""
        return self.evaluate(query, *_parts(response), **{"tool_calls": calls_of(response), **kwargs})

    async def aevaluate_response(
        self, query: str | QueryBundle | None = None, response: Response | None = None, **kwargs: Any
    ) -> IntrinsicEvaluation:
        """Like :meth:`evaluate_response`, without ever blocking the event loop."""
        return await self.aevaluate(query, *_parts(response), **{"tool_calls": calls_of(response), **kwargs})

    def _given(self, query: Any, response: Any, contexts: Any, history: Any, calls: Any) -> EvaluatorInput:
        known = TABLE[self.intrinsic]
        missing = {
            "query=": query is None and not history and (known.ends_with == ("user",) or not known.needs_documents),
            "response=": response is None and known.ends_with == ("assistant",),
            "contexts=": contexts is None and known.needs_documents,
        }
        for name in (name for name, is_missing in missing.items() if is_missing):
            raise InvalidInput(f"{name} is missing", intrinsic=self.intrinsic, expected=_WANTED[name])
        if contexts is not None and (isinstance(contexts, str) or not isinstance(contexts, Sequence)):
            raise InvalidInput("contexts is not a list", intrinsic=self.intrinsic,
                               expected=_WANTED["contexts="], got=repr(contexts))  # fmt: skip
        return EvaluatorInput(query, response, contexts or (), history, self.metadata_mode, calls)

    def _evaluation(self, given: EvaluatorInput, result: Result) -> IntrinsicEvaluation:
        found, failed = self._score(result), result.degraded is not None
        return IntrinsicEvaluation(
            query=None if given.query is None else str(given.query),
            response=given.response,
            contexts=[c if isinstance(c, str) else c.get_content() for c in given.contexts],
            passing=None if failed else found.passing,
            score=found.score,
            feedback=result.degraded or result.reason or found.feedback,
            invalid_result=failed,
            invalid_reason=result.degraded,
            verdict=self._verdict(given, result),
        )

    def _verdict(self, given: EvaluatorInput, result: Result) -> dict[str, Any]:
        """The verdict as the command line writes it."""
        return result.model_dump(mode="json")


_WANTED = {
    "query=": "the question, or chat_history= that ends with it",
    "response=": "the text of the answer, which may be empty",
    "contexts=": "a list of the texts or nodes to judge by, which may be empty",
}


def _parts(response: Any) -> tuple[str | None, Sequence[NodeWithScore] | None]:
    return (None, None) if response is None else (answer_of(response), sources_of(response))
