"""Verdicts as OpenTelemetry has them: a span a call, and a ``gen_ai.evaluation.result`` event for what it says.

Nothing is imported and nothing costs anything in a program that does not use OpenTelemetry itself: only where its API
is loaded already are spans made, and what becomes of them is the program's own set-up. No text of a conversation or a
document is in them, ids of documents are; explanations are the judges' own words and are left out too.

Sources: OpenTelemetry's semantic conventions for generative AI (development): the event ``gen_ai.evaluation.result``
and ``gen_ai.retrieval.documents``. OpenInference's, which Phoenix reads: kinds of spans, documents and their scores.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from intrinsics_core.protocol.errors import IntrinsicsError
from intrinsics_core.protocol.results import Result

EVENT = "gen_ai.evaluation.result"
_SCORES = ("score", "probability", "expected", "certainty")  # under which name a result has its number


_CHAINS = ("query-rewrite", "query-expansion", "hyde", "self-consistency", "revise", "rag")
_KINDS = {"reranking": "RERANKER"} | dict.fromkeys(_CHAINS, "CHAIN")
_SHOWN = 30  # documents of a list: a span holds 128 attributes, and drops the first ones for more


class Judging:
    """The span of one call, from its first request to its result; of no effect where OpenTelemetry is not in use."""

    __slots__ = ("_name", "_span")

    def __init__(self, intrinsic: str) -> None:
        self._name = intrinsic
        self._span = None
        if "opentelemetry.trace" in sys.modules:
            self._span = _started(f"evaluate {intrinsic}", "evaluate", _KINDS.get(intrinsic, "EVALUATOR"))
            self._span.set_attribute("gen_ai.evaluation.name", intrinsic)

    def judged(self, value: Any) -> None:
        """The call ended in a result."""
        if self._span is None:
            return
        if isinstance(value, Result):
            told = _verdict_attributes(value)
            if value.usage:
                told["gen_ai.usage.input_tokens"] = value.usage.prompt_tokens
                told["gen_ai.usage.output_tokens"] = value.usage.completion_tokens
            ranking = [(row.index, row.document_id, row.score) for row in getattr(value, "ranking", ())]
            told |= _documents("reranker.input_documents", [(name, None) for _, name, _ in sorted(ranking)])
            told |= _documents("reranker.output_documents", [row[1:] for row in ranking])
            self._span.set_attributes(told)
            for attributes in verdicts(self._name, value):
                _emit(self._span, attributes)
        self._span.end()

    def failed(self, error: BaseException) -> None:
        """The call ended in an error, or was given up."""
        if self._span is None:
            return
        if isinstance(error, IntrinsicsError):
            _emit(self._span, {"gen_ai.evaluation.name": self._name, "error.type": type(error).__name__})
        _fail(self._span, error)


@contextmanager
def retrieving() -> Iterator[list[Any]]:
    """The span of one retrieval of a flow; the documents found are put into the list, best first."""
    found: list[Any] = []
    span = _started("retrieval", "retrieval", "RETRIEVER") if "opentelemetry.trace" in sys.modules else None
    try:
        yield found
    except BaseException as error:
        if span is not None:
            _fail(span, error)
        raise
    if span is not None:
        rows = [(document.id, document.score) for document in found[:_SHOWN]]
        span.set_attributes(_documents("retrieval.documents", rows))
        span.set_attribute("gen_ai.retrieval.documents", json.dumps([{"id": i, "score": score} for i, score in rows]))
        span.end()


def _started(name: str, operation: str, kind: str) -> Any:
    tracer = sys.modules["opentelemetry.trace"].get_tracer("rag-intrinsics")
    told = {"gen_ai.operation.name": operation, "openinference.span.kind": kind}
    return tracer.start_span(name, attributes=told)


def _fail(span: Any, error: BaseException) -> None:
    kind, trace = type(error).__name__, sys.modules["opentelemetry.trace"]
    span.set_attribute("error.type", kind)
    span.set_status(trace.Status(trace.StatusCode.ERROR, kind))
    span.end()


def _documents(under: str, rows: Sequence[tuple[str | None, float | None]]) -> dict[str, Any]:
    """The ids and scores of the first documents of a list, an attribute each."""
    shown = list(enumerate(rows[:_SHOWN]))
    ids = {f"{under}.{i}.document.id": name for i, (name, _) in shown if name is not None}
    return ids | {f"{under}.{i}.document.score": score for i, (_, score) in shown if score is not None}


def verdicts(intrinsic: str, value: Result) -> Iterator[dict[str, Any]]:
    """The attributes of each event: one for the whole result where it has a label or a score, one for each document
    judged and each metric rated. ``rag_intrinsics.score.meaning`` says what the number is a probability of."""
    if attributes := _verdict_attributes(value):
        yield {
            "gen_ai.evaluation.name": intrinsic,
            **attributes,
            **({"error.type": "degraded"} if value.degraded else {}),
        }
    for metric in getattr(value, "metrics", ()):
        if attributes := _verdict_attributes(metric, label="rating"):
            yield {"gen_ai.evaluation.name": intrinsic, **attributes, "rag_intrinsics.metric": metric.name}
    for judgement in getattr(value, "judgements", ()):
        yield {
            "gen_ai.evaluation.name": intrinsic,
            **_verdict_attributes(judgement),
            "rag_intrinsics.document.index": judgement.index,
        }


def _verdict_attributes(verdict: Any, label: str = "label") -> dict[str, Any]:
    name = _score_of(verdict)
    attributes = {
        "gen_ai.evaluation.score.label": getattr(verdict, label, None),
        "gen_ai.evaluation.score.value": getattr(verdict, name) if name else None,
        "rag_intrinsics.score.meaning": type(verdict).model_fields[name].description if name else None,
    }
    return {name: value for name, value in attributes.items() if value is not None}


def _score_of(verdict: Any) -> str | None:
    """Under which name a result has its number: an audit without a score is not told by its certainty."""
    name = next((name for name in _SCORES if name in type(verdict).model_fields), None)
    if name == "expected" and verdict.expected is None:  # of an uncertainty: the model gave its certainty alone
        name = "certainty"
    return name if name and isinstance(getattr(verdict, name), int | float) else None


def _emit(span: Any, attributes: dict[str, Any]) -> None:
    """An event of the logs API, in the span's context; of the span itself where the program has no logs set up."""
    trace, logs = sys.modules["opentelemetry.trace"], sys.modules.get("opentelemetry._logs")
    if logs is None:  # not imported here: a child that is forked in the middle of an import waits for ever
        span.add_event(EVENT, attributes)
        return
    record = logs.LogRecord(event_name=EVENT, attributes=attributes, context=trace.set_span_in_context(span))
    logs.get_logger("rag-intrinsics").emit(record)
