"""The evaluator: read what is evaluated, run one call of the core, say it in LlamaIndex's types."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from inspect import signature
from typing import Annotated, Any

from llama_index.core.base.response.schema import Response
from llama_index.core.evaluation import BaseEvaluator, EvaluationResult
from llama_index.core.instrumentation import get_dispatcher  # type: ignore[attr-defined]
from llama_index.core.schema import MetadataMode, NodeWithScore, QueryBundle
from llama_index.rag_intrinsics._component import IntrinsicComponent, check_names
from llama_index.rag_intrinsics._inputs import History, conversation, distinct, passages
from llama_index.rag_intrinsics._responses import answer_of, calls_of, sources_of
from pydantic import Field

from intrinsics_core import Call, InvalidInput
from intrinsics_core.chains.transcript import MadeCall
from intrinsics_core.intrinsics import TABLE
from intrinsics_core.intrinsics.options import from_json, record_of
from intrinsics_core.protocol.names import named
from intrinsics_core.protocol.results import ContextRelevance, Evaluation, FactCheck, HallucinationDetection, Result

dispatcher = get_dispatcher(__name__)

Query = str | QueryBundle | None
Contexts = Sequence[str | NodeWithScore] | None


class IntrinsicEvaluation(EvaluationResult):
    """An evaluation result with the whole verdict beside it: what the command line writes for the intrinsic."""

    verdict: dict[str, Any] = Field(default_factory=dict)


class IntrinsicEvaluator(IntrinsicComponent, BaseEvaluator):
    """Evaluates ``query``, ``response`` and ``contexts`` (texts, or the nodes themselves), or a response object with
    its source nodes. ``chat_history=`` brings the turns before the query, ``tool_calls=`` what an agent called for the
    answer (``name``, ``arguments`` and ``result`` of each).

    Returns an ``EvaluationResult`` with one field more: ``verdict`` is what the command line writes for the intrinsic.
    ``score`` is in 0..1. ``passing`` is None where there was nothing to judge (``feedback`` says why) and where the
    judge failed: the result is then marked as invalid, with the reason. So one outage does not cost a whole run of a
    ``BatchEvalRunner``; ``on_error="raise"`` raises instead.

    Args:
        intrinsic: what is judged, and what the score is: ``"hallucination-detection"`` (faithfulness of the response by
            the contexts; one flagged sentence fails it), ``"answerability"`` (the probability that the contexts answer
            the query), ``"context-relevance"`` (that of the best context), ``"answer-relevance"``, ``"fact-check"``
            (factuality), ``"uncertainty"`` (certainty), or ``"evaluate"`` (the mean of the metrics' probabilities).
        threshold: passing from this score on, whatever the label; None: by the label, and for ``"fact-check"`` and
            ``"uncertainty"`` from 0.5 on.
        options: further arguments of the intrinsic by name: ``metrics`` of ``"evaluate"``, ``top_k``, ``top_p``,
            ``aggregate``, ``sources`` and ``combine`` of ``"fact-check"``. They may be given as keywords, too.
        metadata_mode: which metadata of nodes is read beside their text: what LLMs are shown, by default.

    Raises:
        InvalidInput: there is no such intrinsic or setting, or an option's value is wrong.

    Example:
        >>> from llama_index.evaluation.rag_intrinsics import IntrinsicEvaluator
        >>> found = IntrinsicEvaluator("hallucination-detection").evaluate(
        ...     query="Who built the tide mill?", response="Ada Brink built the tide mill in 1911.",
        ...     contexts=["Ada Brink built the tide mill in 1911."])
        >>> found.passing, found.verdict["label"]
        (True, 'faithful')
        >>> IntrinsicEvaluator("evaluate", metrics=["faithfulness"]).options
        {'metrics': ['faithfulness']}
    """

    intrinsic: str  # type: ignore[misc]  # of other components it is the class that says it
    threshold: Annotated[float | None, Field(ge=0, le=1)] = None
    options: dict[str, Any] = Field(default_factory=dict)
    on_error: str = "fallback"
    metadata_mode: MetadataMode = MetadataMode.LLM

    def __init__(self, intrinsic: str, **settings: Any) -> None:
        intrinsic = named("intrinsic", intrinsic, _READ)
        fields = type(self).model_fields
        check_names(settings, [*fields, *signature(TABLE[intrinsic].function).parameters], called=self.class_name())
        options = {**settings.pop("options", {}), **{name: settings.pop(name) for name in settings.keys() - fields}}
        if options:
            from_json(record_of(intrinsic), options, called=self.class_name())
        super().__init__(intrinsic=intrinsic, options=options, **settings)

    @dispatcher.span
    def evaluate(
        self, query: Query = None, response: str | None = None, contexts: Contexts = None, **given: Any
    ) -> IntrinsicEvaluation:
        """Evaluate. Works inside a running event loop too (it blocks it; prefer :meth:`aevaluate` there).

        Raises:
            IntrinsicsError: see :mod:`intrinsics_core.protocol.errors`.
        """
        return self._told(query, response, contexts, self._result(self._call(query, response, contexts, **given)))

    @dispatcher.span
    async def aevaluate(
        self, query: Query = None, response: str | None = None, contexts: Contexts = None, **given: Any
    ) -> IntrinsicEvaluation:
        """Like :meth:`evaluate`, without ever blocking the event loop."""
        call = self._call(query, response, contexts, **given)
        return self._told(query, response, contexts, await self._aresult(call))

    def evaluate_response(
        self, query: Query = None, response: Response | None = None, **given: Any
    ) -> IntrinsicEvaluation:
        """Evaluate a response of any of LlamaIndex's classes by its source nodes, whose ids the verdict names."""
        return self.evaluate(query, **_parts(response), **given)

    async def aevaluate_response(
        self, query: Query = None, response: Response | None = None, **given: Any
    ) -> IntrinsicEvaluation:
        """Like :meth:`evaluate_response`, without ever blocking the event loop."""
        return await self.aevaluate(query, **_parts(response), **given)

    def _call(
        self, query: Query, response: Any, contexts: Any, chat_history: History = None, tool_calls: Any = (), **_: Any
    ) -> Call[Any]:
        known = TABLE[self.intrinsic]
        asks = known.ends_with == ("user",) or not known.needs_documents
        missing = {
            "query=": query is None and not chat_history and asks,
            "response=": response is None and known.ends_with == ("assistant",),
            "contexts=": contexts is None and known.needs_documents,
        }
        for name in (name for name, is_missing in missing.items() if is_missing):
            raise InvalidInput(f"{name} is missing", intrinsic=self.intrinsic, expected=_WANTED[name])
        if contexts is not None and (isinstance(contexts, str) or not isinstance(contexts, Sequence)):
            raise InvalidInput("contexts is not a list", intrinsic=self.intrinsic,
                               expected=_WANTED["contexts="], got=repr(contexts))  # fmt: skip
        made = [call if isinstance(call, MadeCall) else MadeCall(**call) for call in tool_calls]
        documents = _documents(contexts or (), self.metadata_mode)
        answer = response if known.judges_answers else None
        return self._ask(conversation(query, answer, chat_history, made, documents), documents, **self.options)

    def _told(self, query: Query, response: str | None, contexts: Contexts, result: Result) -> IntrinsicEvaluation:
        passing, score, feedback = _READ[self.intrinsic](result)
        threshold = _LEAST.get(self.intrinsic) if self.threshold is None else self.threshold
        if threshold is not None and passing is not None:
            passing = None if score is None else score >= threshold
        return IntrinsicEvaluation(
            query=None if query is None else str(query),
            response=response,
            contexts=[c if isinstance(c, str) else c.get_content() for c in contexts or ()],
            passing=None if result.degraded else passing,
            score=score,
            feedback=result.degraded or result.reason or feedback,
            invalid_result=result.degraded is not None,
            invalid_reason=result.degraded,
            verdict=result.model_dump(mode="json"),
        )


_WANTED = {
    "query=": "the question, or chat_history= that ends with it",
    "response=": "the text of the answer, which may be empty",
    "contexts=": "a list of the texts or nodes to judge by, which may be empty",
}


def _parts(response: Any) -> dict[str, Any]:
    if response is None:
        return {}
    return {"response": answer_of(response), "contexts": sources_of(response), "tool_calls": calls_of(response)}


def _documents(contexts: Sequence[str | NodeWithScore], shown: MetadataMode) -> list[Any]:
    """The contexts, in order; texts and nodes may be mixed."""
    nodes = [c for c in contexts if isinstance(c, NodeWithScore)]
    if len(nodes) < len(contexts):
        return [passages([c], shown)[0] if isinstance(c, NodeWithScore) else c for c in contexts]
    return passages(distinct(nodes), shown)


# --- a result in LlamaIndex's terms: whether it passes by its label (None: there was nothing to judge), score, feedback

_Read = tuple[bool | None, float | None, str]
_LEAST = {"fact-check": 0.5, "uncertainty": 0.5}  # passing scores of what has no label
_FINE = ("faithful", "NA")  # NA: a sentence that claims nothing


def _context_relevance(result: ContextRelevance) -> _Read:
    rows = result.judgements
    best = max((row.score for row in rows if row.score is not None), default=None)
    helps = any(row.label != "irrelevant" for row in rows)
    return helps, best, "\n".join(f"{row.document_id}: {row.label}" for row in rows)


def _fact_check(result: FactCheck) -> _Read:
    read = [source for source in result.sources if source.score is not None]
    said = [f"{one.document_id}: supports it with {one.score:.2f}, weight {one.weight:.2f}" for one in read]
    return False, result.score, "\n".join(said)


def _faithfulness(result: HallucinationDetection) -> _Read:
    if result.reason:
        return None, None, result.reason
    flagged = [
        f"{row.label}: {row.text}" + (f" ({row.explanation})" if row.explanation else "")
        for row in result.sentences
        if row.label not in _FINE
    ]
    return result.label in _FINE and not flagged, result.score, "\n".join([result.label, *flagged])


def _ratings(result: Evaluation) -> _Read:
    rated = [metric for metric in result.metrics if metric.rating is not None]
    scores = [metric.score for metric in rated if metric.score is not None]
    said = [f"{m.name}: {m.rating or 'not rated'}. {m.explanation or m.reason or ''}".strip() for m in result.metrics]
    passing = all(metric.rating == "yes" for metric in rated) if rated else None
    return passing, sum(scores) / len(scores) if scores else None, "\n".join(said)


_READ: Mapping[str, Callable[[Any], _Read]] = {
    "hallucination-detection": _faithfulness,
    "answerability": lambda result: (result.answerable, result.probability, result.label),
    "context-relevance": _context_relevance,
    "answer-relevance": lambda r: (None if r.label is None else r.label != "irrelevant", r.score, r.label or ""),
    "fact-check": _fact_check,
    "uncertainty": lambda r: (False, r.certainty, "" if r.certainty is None else f"certainty {r.certainty:.2f}"),
    "evaluate": _ratings,
}
