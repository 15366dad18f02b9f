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


@contextmanager
def judging(intrinsic: str) -> Iterator[list[Any]]:
    """The span of one call, from its first request to its result, which is put into the list."""
    found: list[Any] = []
    with _traced(f"evaluate {intrinsic}", "evaluate", _KINDS.get(intrinsic, "EVALUATOR")) as span:
        if span is None:
            yield found
            return
        span.set_attribute("gen_ai.evaluation.name", intrinsic)
        try:
            yield found
        except IntrinsicsError as error:
            _emit(span, {"gen_ai.evaluation.name": intrinsic, "error.type": type(error).__name__})
            raise
        for value in (each for each in found if isinstance(each, Result)):
            told = _verdict_attributes(value)
            if value.usage:
                told["gen_ai.usage.input_tokens"] = value.usage.prompt_tokens
                told["gen_ai.usage.output_tokens"] = value.usage.completion_tokens
            ranking = [(row.index, row.document_id, row.score) for row in getattr(value, "ranking", ())]
            told |= _documents("reranker.input_documents", [(name, None) for _, name, _ in sorted(ranking)])
            told |= _documents("reranker.output_documents", [row[1:] for row in ranking])
            span.set_attributes(told)
            for attributes in verdicts(intrinsic, value):
                _emit(span, attributes)


@contextmanager
def retrieving() -> Iterator[list[Any]]:
    """The span of one retrieval of a flow; the documents found are put into the list, best first."""
    found: list[Any] = []
    with _traced("retrieval", "retrieval", "RETRIEVER") as span:
        yield found
        if span is not None:
            rows = [(document.id, document.score) for document in found[:_SHOWN]]
            span.set_attributes(_documents("retrieval.documents", rows))
            listed = json.dumps([{"id": i, "score": score} for i, score in rows])
            span.set_attribute("gen_ai.retrieval.documents", listed)


@contextmanager
def _traced(name: str, operation: str, kind: str) -> Iterator[Any]:
    """A span, which tells what is raised in here; None where OpenTelemetry is not in use."""
    trace = sys.modules.get("opentelemetry.trace")
    if trace is None:
        yield None
        return
    told = {"gen_ai.operation.name": operation, "openinference.span.kind": kind}
    span = trace.get_tracer("rag-intrinsics").start_span(name, attributes=told)
    try:
        yield span
    except BaseException as error:  # also where it is given up
        span.set_attribute("error.type", type(error).__name__)
        span.set_status(trace.Status(trace.StatusCode.ERROR, type(error).__name__))
        raise
    finally:
        span.end()


def _documents(under: str, rows: Sequence[tuple[str | None, float | None]]) -> dict[str, Any]:
    """The ids and scores of the first documents of a list, an attribute each."""
    shown = list(enumerate(rows[:_SHOWN]))
    ids = {f"{under}.{i}.document.id": name for i, (name, _) in shown if name is not None}
    return ids | {f"{under}.{i}.document.score": score for i, (_, score) in shown if score is not None}


def verdicts(intrinsic: str, value: Result) -> Iterator[dict[str, Any]]:
    """The attributes of each event: one for the whole result where it has a label or a score, one for each document
    judged and each metric rated. ``rag_intrinsics.score.meaning`` says what the number is a probability of."""
    named = {"gen_ai.evaluation.name": intrinsic}
    if attributes := _verdict_attributes(value):
        yield named | attributes | ({"error.type": "degraded"} if value.degraded else {})
    for metric in getattr(value, "metrics", ()):
        if attributes := _verdict_attributes(metric, label="rating"):
            yield named | attributes | {"rag_intrinsics.metric": metric.name}
    for judgement in getattr(value, "judgements", ()):
        yield named | _verdict_attributes(judgement) | {"rag_intrinsics.document.index": judgement.index}


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
