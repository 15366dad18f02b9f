"""Verdicts as OpenTelemetry has them: a span a call, and a ``gen_ai.evaluation.result`` event for what it says.

Nothing is imported and nothing costs anything in a program that does not use OpenTelemetry itself: only where its API
is loaded already are spans made, and what becomes of them is the program's own set-up. No text of a conversation or a
document is in them; explanations are the judges' own words about it and are left out too.

Source: OpenTelemetry semantic conventions for generative AI, event ``gen_ai.evaluation.result`` (development).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from intrinsics_core.protocol.errors import IntrinsicsError
from intrinsics_core.protocol.results import Result

EVENT = "gen_ai.evaluation.result"
_SCORES = ("score", "probability", "expected", "certainty")  # under which name a result has its number


class Judging:
    """The span of one call, from its first request to its result; of no effect where OpenTelemetry is not in use."""

    __slots__ = ("_name", "_span")

    def __init__(self, intrinsic: str) -> None:
        self._name, self._span = intrinsic, None
        if (trace := sys.modules.get("opentelemetry.trace")) is not None:
            tracer = trace.get_tracer("rag-intrinsics")
            attributes = {"gen_ai.operation.name": "evaluate", "gen_ai.evaluation.name": intrinsic}
            self._span = tracer.start_span(f"evaluate {intrinsic}", attributes=attributes)

    def judged(self, value: Any) -> None:
        """The call ended in a result."""
        if self._span is None:
            return
        if isinstance(value, Result):
            if value.usage:
                self._span.set_attribute("gen_ai.usage.input_tokens", value.usage.prompt_tokens)
                self._span.set_attribute("gen_ai.usage.output_tokens", value.usage.completion_tokens)
            for attributes in verdicts(self._name, value):
                _emit(self._span, attributes)
        self._span.end()

    def failed(self, error: BaseException) -> None:
        """The call ended in an error, or was given up."""
        if self._span is None:
            return
        kind = type(error).__name__
        self._span.set_attribute("error.type", kind)
        if isinstance(error, IntrinsicsError):
            _emit(self._span, {"gen_ai.evaluation.name": self._name, "error.type": kind})
        trace = sys.modules["opentelemetry.trace"]
        self._span.set_status(trace.Status(trace.StatusCode.ERROR, kind))
        self._span.end()


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
