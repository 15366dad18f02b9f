"""Verdicts as OpenTelemetry events, in a program that uses OpenTelemetry; nothing in one that does not."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from intrinsics_core import (
    answerability,
    audit,
    context_relevance,
    hallucination_detection,
    reranking,
    run,
    uncertainty,
)
from intrinsics_core.protocol.errors import IntrinsicsError, RuntimeUnavailable
from intrinsics_core.running.flows import rag
from intrinsics_core.runtimes.scripted import Scripted
from intrinsics_core.runtimes.tools import Tools

QUESTION = [{"role": "user", "content": "Who built the mill?"}]
ANSWER = {"role": "assistant", "content": "Ada Brink built it."}
DOCUMENTS = ["Ada Brink built the mill in 1911.", "Fog is common in May."]


@pytest.fixture(scope="module")
def exporters() -> Any:
    trace = pytest.importorskip("opentelemetry.sdk.trace", reason="opentelemetry-sdk is not installed")
    from opentelemetry import _logs
    from opentelemetry import trace as api
    from opentelemetry.sdk._logs import LoggerProvider
    from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    spans, events = InMemorySpanExporter(), InMemoryLogRecordExporter()
    traces, logs = trace.TracerProvider(), LoggerProvider()
    traces.add_span_processor(SimpleSpanProcessor(spans))
    logs.add_log_record_processor(SimpleLogRecordProcessor(events))
    api.set_tracer_provider(traces)
    _logs.set_logger_provider(logs)
    return spans, events


@pytest.fixture
def seen(exporters: Any) -> Iterator[Any]:
    """(spans, event attributes) since the test began."""
    spans, events = exporters
    spans.clear()
    events.clear()
    yield lambda: (spans.get_finished_spans(), [log.log_record for log in events.get_finished_logs()])


def test_a_verdict_is_a_span_with_an_event(seen: Any) -> None:
    run(answerability(QUESTION, DOCUMENTS), Scripted([{"answerability": "answerable", "confidence": 0.9}]))
    (span,), (event,) = seen()
    assert span.name == "evaluate answerability"
    assert span.attributes["gen_ai.usage.input_tokens"] == 10
    assert event.event_name == "gen_ai.evaluation.result"
    assert dict(event.attributes) == {
        "gen_ai.evaluation.name": "answerability",
        "gen_ai.evaluation.score.label": "answerable",
        "gen_ai.evaluation.score.value": 0.9,
        "rag_intrinsics.score.meaning": "probability that the documents answer the question",
    }
    assert event.span_id == span.context.span_id


def test_each_document_judged_is_an_event_and_no_text_is_in_any(seen: Any) -> None:
    run(context_relevance(QUESTION, DOCUMENTS))
    run(hallucination_detection([*QUESTION, ANSWER], DOCUMENTS))
    spans, events = seen()
    assert [span.name for span in spans] == ["evaluate context-relevance", "evaluate hallucination-detection"]
    assert [e.attributes.get("rag_intrinsics.document.index") for e in events] == [0, 1, None]
    assert not [word for word in ("mill", "Brink", "Fog") if word in f"{[span.to_json() for span in spans]}{events}"]


def test_a_ranking_and_a_retrieval_have_their_documents_and_no_more_than_a_span_holds(seen: Any) -> None:
    many = [{"id": f"{i}", "text": f"Mill {i}.", "score": i / 64} for i in range(64)]
    ranked = run(reranking(QUESTION, many)).ranking
    run(rag(QUESTION, rewrite=False, gate=False, cite=False, detect=False),
        Tools(None, retrieve=lambda query: many[::-1], generate=lambda messages, documents: "Ada."))  # fmt: skip
    by_name = {span.name: span.attributes for span in seen()[0]}
    told = by_name["evaluate reranking"]
    assert (told["gen_ai.operation.name"], told["openinference.span.kind"]) == ("evaluate", "RERANKER")
    assert told["reranker.input_documents.1.document.id"] == "1"
    assert told["reranker.output_documents.0.document.id"] == ranked[0].document_id
    assert told["reranker.output_documents.0.document.score"] == ranked[0].score
    found = by_name["retrieval"]
    assert found["retrieval.documents.0.document.score"] == 63 / 64 and len(found) < 128
    assert found["openinference.span.kind"] == "RETRIEVER"

    def down(query: str) -> Any:
        raise RuntimeUnavailable("down")

    with pytest.raises(IntrinsicsError):
        run(rag(QUESTION, rewrite=False), Tools(None, retrieve=down, generate=lambda messages, documents: "Ada."))
    assert [span.attributes["error.type"] for span in seen()[0][-2:]] == ["RuntimeUnavailable"] * 2


def test_an_audit_without_a_score_has_no_number(seen: Any) -> None:
    run(audit([*QUESTION, {"role": "assistant", "content": "Hello!"}], DOCUMENTS))
    run(uncertainty([*QUESTION, ANSWER], DOCUMENTS))
    _, events = seen()
    assert events[0].attributes["gen_ai.evaluation.score.label"] == "NA"
    assert ["gen_ai.evaluation.score.value" in event.attributes for event in events] == [False, True]


def test_failures_and_fallbacks_are_told(seen: Any) -> None:
    gone = RuntimeUnavailable("the server is down")
    with pytest.raises(IntrinsicsError):
        run(answerability(QUESTION, DOCUMENTS), Scripted([gone]))
    run(answerability(QUESTION, DOCUMENTS, on_error="open"), Scripted([gone]))
    (failed, degraded), events = seen()
    assert failed.attributes["error.type"] == "RuntimeUnavailable" and not failed.status.is_ok
    assert degraded.status.is_ok
    assert [event.attributes["error.type"] for event in events] == ["RuntimeUnavailable", "degraded"]


@pytest.mark.slow
def test_a_program_without_opentelemetry_does_not_load_it() -> None:
    code = (
        "import sys; from intrinsics_core import *\n"
        "run(answerability([{'role': 'user', 'content': 'Who?'}], ['Ada.']))\n"
        "sys.exit(any(name.startswith('opentelemetry') for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=120).returncode == 0
