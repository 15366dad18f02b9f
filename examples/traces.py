"""Traces: each judgement is a span with its verdict. Phoenix, Langfuse or any collector receives them by OTLP.

There, put opentelemetry-exporter-otlp's OTLPSpanExporter(endpoint=...) in the place of the exporter below.
"""

from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from intrinsics_core import hallucination_detection, reranking, run

received = InMemorySpanExporter()
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(received))
trace.set_tracer_provider(provider)

question = [{"role": "user", "content": "Who built the mill?"}]
passages = ["Ada Brink built the mill in 1911.", "Fog is common in May."]
with trace.get_tracer("my-app").start_as_current_span("answer") as whole:
    whole.set_attribute("openinference.span.kind", "CHAIN")
    best = [passages[row.index] for row in run(reranking(question, passages)).ranking[:1]]
    answer = [*question, {"role": "assistant", "content": "Ada Brink built it in 1911."}]
    run(hallucination_detection(answer, best))
for span in received.get_finished_spans():
    told = {**(span.attributes or {}), **{k: v for event in span.events for k, v in (event.attributes or {}).items()}}
    below = "" if span.parent is None else "  "
    print(
        below + span.name, told.get("gen_ai.evaluation.score.label", ""), told.get("gen_ai.evaluation.score.value", "")
    )
