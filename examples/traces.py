"""Traces: each retrieval and each judgement is a span, with documents and verdicts as OpenTelemetry and OpenInference
name them.

Phoenix, Langfuse or any collector receives them where OTEL_EXPORTER_OTLP_ENDPOINT names it (Phoenix's is
http://localhost:6006): pip install opentelemetry-exporter-otlp-proto-http
"""

import os

from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from intrinsics_core import reranking, run
from intrinsics_core.running.flows import rag
from intrinsics_core.runtimes.tools import Tools

received = InMemorySpanExporter()
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(received))
if os.environ.get("OTEL_EXPORTER_OTLP_ENDPOINT"):
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    provider.add_span_processor(SimpleSpanProcessor(OTLPSpanExporter()))
trace.set_tracer_provider(provider)

question = [{"role": "user", "content": "Who built the mill?"}]
passages = [
    {"id": "fog", "text": "Fog is common in May."},
    {"id": "mill", "text": "Ada Brink built the mill in 1911."},
]


def search(query):  # yours in its place
    ranked = run(reranking([{"role": "user", "content": query}], passages)).ranking
    return [passages[row.index] | {"score": row.score} for row in ranked[:1]]


tools = Tools(None, retrieve=search, generate=lambda messages, documents: "Ada Brink built it in 1911.")
with trace.get_tracer("my-app").start_as_current_span("answer") as whole:
    whole.set_attribute("openinference.span.kind", "CHAIN")
    run(rag(question, rewrite=False), tools)
for span in received.get_finished_spans():
    told = span.attributes or {}
    names = ("openinference.span.kind", "gen_ai.evaluation.score.label", "gen_ai.retrieval.documents")
    print("  " * (span.parent is not None) + span.name, *(told[name] for name in names if name in told), sep=" | ")
