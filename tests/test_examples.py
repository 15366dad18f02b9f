"""Each program in examples/ runs and prints what its first line promises."""

from __future__ import annotations

import ast
import gzip
import json
import os
import runpy
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path

import pytest
import typer

from intrinsics_core import IntrinsicsError
from intrinsics_core.cli import app
from tests.loopback import Loopback, Reply, completion

EXAMPLES = Path(__file__).parent.parent / "examples"
NEEDS = {
    "langchain_chain": "langchain_rag_intrinsics",
    "llamaindex_engine": "llama_index",
    "haystack_pipeline": "haystack",
    "files": "llama_index",
    "own_server": "openai",
}
PRINTED = {
    "audit": ["answerable unfaithful", "faithful | Ada Brink built", "unfaithful | She painted"],
    "rerank": ["1 ", "Ada Brink built the tide mill"],
    "gate": ["answerable | How much", "unanswerable | Is there a first class?"],
    "rewrite": ["mill"],
    "cite": ["[^", "closed"],
    "stream": ["faithful | Ada Brink built", "unfaithful | It is made of glass."],
    "calibrate": ["expected calibration error", "answerable"],
    "langchain_chain": ["'faithful', 'unfaithful'", "The documents do not say."],
    "llamaindex_engine": ["answerable"],
    "haystack_pipeline": ["Ada Brink built it in 1911 [1].", "The documents do not say."],
    "files": ["in 1911.[1]", "[1] mill.md", "[2] ferry.html"],
}


def test_every_example_is_run() -> None:
    elsewhere = {"traces", "own_server", "streamlit_page", "mlflow_evaluate"}  # tests of their own, below
    assert {file.stem for file in EXAMPLES.glob("*.py")} == set(PRINTED) | elsewhere


def test_the_calibration_of_the_example_is_worth_it() -> None:
    shown = runpy.run_path(str(EXAMPLES / "calibrate.py"))
    rows = [json.dumps(example) for example in shown["examples"]]
    assert shown["fitted"].after.ece < shown["fitted"].before.ece and len(set(rows)) == len(rows)


@pytest.mark.parametrize("name", sorted(PRINTED))
def test_an_example(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    if name in NEEDS and find_spec(NEEDS[name]) is None:
        pytest.skip(f"{NEEDS[name]} is not installed here")
    runpy.run_path(str(EXAMPLES / f"{name}.py"))
    printed = capsys.readouterr().out
    for part in PRINTED[name]:
        assert part in printed, printed


def test_a_pdf_is_cited_by_its_file_and_page(tmp_path: Path) -> None:
    pytest.importorskip("llama_index.readers.file", reason="llama-index-readers-file is not installed")
    from llama_index.core import SimpleDirectoryReader
    from llama_index.core.base.response.schema import Response
    from llama_index.core.schema import NodeWithScore
    from llama_index.response_synthesizers.rag_intrinsics import AnswerCheck, cited

    drawn = "BT /F1 12 Tf 72 700 Td (The tide mill was built in 1911 by Ada Brink.) Tj ET"
    parts = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R "
        "/Resources << /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >> >>",
        f"<< /Length {len(drawn)} >>\nstream\n{drawn}\nendstream",
    ]
    body, places = "%PDF-1.4\n", []
    for number, part in enumerate(parts, start=1):
        places.append(len(body))
        body += f"{number} 0 obj\n{part}\nendobj\n"
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    end = f"xref\n0 5\n0000000000 65535 f \n{table}trailer\n<< /Size 5 /Root 1 0 R >>\nstartxref\n{len(body)}\n%%EOF\n"
    (tmp_path / "mill.pdf").write_text(body + end, encoding="ascii")
    pages = [NodeWithScore(node=page) for page in SimpleDirectoryReader(tmp_path).load_data()]
    answer = Response("Ada Brink built the mill in 1911.", source_nodes=pages)
    shown = cited(AnswerCheck("citations").check("Who built the mill?", answer), "inline")
    assert "in 1911.[1]" in shown and "mill.pdf" in shown, shown


def traced(**environment: str) -> list[list[str]]:
    program = [sys.executable, str(EXAMPLES / "traces.py")]  # a process has one tracer provider
    told = subprocess.run(program, capture_output=True, text=True, check=True, env={**os.environ, **environment})
    return [line.split(" | ") for line in told.stdout.splitlines()]


def test_traces_reach_an_exporter() -> None:
    pytest.importorskip("opentelemetry.sdk", reason="opentelemetry-sdk is not installed")
    spans = traced()
    assert spans[0] == ["  evaluate reranking", "RERANKER"] and spans[-1] == ["answer", "CHAIN"]
    assert spans[1][:2] == ["  retrieval", "RETRIEVER"] and json.loads(spans[1][2])[0]["id"] == "mill"
    assert ["  evaluate hallucination-detection", "EVALUATOR", "faithful"] in spans


def test_traces_reach_a_collector_as_phoenix_and_opentelemetry_name_them() -> None:
    """A receiver of OTLP over HTTP, which reads what arrives by the protocol's own messages."""
    pytest.importorskip("opentelemetry.exporter.otlp.proto.http", reason="no OTLP exporter is installed")
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    found: dict[str, dict[str, str | float]] = {}

    class Collector(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            asked = ExportTraceServiceRequest.FromString(
                gzip.decompress(body) if self.headers.get("Content-Encoding") == "gzip" else body
            )
            for resource in asked.resource_spans if self.path == "/v1/traces" else ():
                for span in (span for scope in resource.scope_spans for span in scope.spans):
                    found[span.name] = {
                        each.key: getattr(each.value, each.value.WhichOneof("value")) for each in span.attributes
                    }
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Collector) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        traced(OTEL_EXPORTER_OTLP_ENDPOINT=f"http://127.0.0.1:{server.server_port}")
        server.shutdown()
    ranked, retrieved = found["evaluate reranking"], found["retrieval"]
    assert [ranked[f"reranker.{side}_documents.0.document.id"] for side in ("input", "output")] == ["fog", "mill"]
    score = ranked["reranker.output_documents.0.document.score"]
    assert retrieved["gen_ai.operation.name"] == "retrieval" and retrieved["openinference.span.kind"] == "RETRIEVER"
    assert (retrieved["retrieval.documents.0.document.id"], retrieved["retrieval.documents.0.document.score"]) == (
        "mill", score)  # fmt: skip
    assert json.loads(str(retrieved["gen_ai.retrieval.documents"])) == [{"id": "mill", "score": score}]
    judged = found["evaluate hallucination-detection"]
    assert judged["gen_ai.evaluation.score.label"] == "faithful" and 0.5 < judged["gen_ai.evaluation.score.value"] <= 1
    assert not [told for told in str(found).split() if told.strip("'\".,") in ("Brink", "Fog", "Who")]


def test_verdicts_are_a_scorer_of_mlflow(tmp_path: Path) -> None:
    for name in ("mlflow.genai", "sqlalchemy", "alembic"):  # a slim MLflow has no store of its own
        pytest.importorskip(name, reason="mlflow is not installed")
    where = {**os.environ, "MLFLOW_TRACKING_URI": f"sqlite:///{tmp_path}/mlflow.db", "PYTHONPATH": str(EXAMPLES.parent)}
    program = [sys.executable, str(EXAMPLES / "mlflow_evaluate.py")]
    printed = subprocess.run(program, capture_output=True, text=True, check=True, env=where, cwd=tmp_path).stdout
    for metric in ("answerable/mean 1.0", "faithful/mean 0.5", "wrong_sentences/mean 0.5"):
        assert metric in printed, printed


@pytest.mark.parametrize("judge", ["default", "server"])
def test_an_answer_of_an_openai_compatible_server(
    judge: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("openai", reason="openai is not installed")
    said = "Ada Brink built the mill in 1911. She painted it gold."
    with Loopback(lambda received: Reply(completion(said))) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("JUDGE", judge)
        if judge == "server":  # which says no verdict here: a judge's reply that cannot be read is an error, no verdict
            with pytest.raises(IntrinsicsError):
                runpy.run_path(str(EXAMPLES / "own_server.py"))
            return
        runpy.run_path(str(EXAMPLES / "own_server.py"))
        assert "Ada Brink built" in server.bodies()[0]["messages"][0]["content"]
    assert capsys.readouterr().out.splitlines() == [
        "faithful | Ada Brink built the mill in 1911.",
        "unfaithful | She painted it gold.",
    ]


def test_a_page_of_twenty_lines() -> None:
    file = EXAMPLES / "streamlit_page.py"
    ast.parse(file.read_text(encoding="utf-8"))
    testing = pytest.importorskip("streamlit.testing.v1", reason="streamlit is not installed")
    page = testing.AppTest.from_file(str(file), default_timeout=60).run()
    page.button[0].click().run()
    assert not page.exception and len(page.success) == len(page.error) == 1


def test_what_the_dockerfile_starts_is_a_command_of_ours() -> None:
    [line] = [line for line in (EXAMPLES.parent / "Dockerfile").read_text().splitlines() if line.startswith("CMD ")]
    name, *arguments = json.loads(line.removeprefix("CMD "))
    assert name == "intrinsics"
    started = typer.main.get_command(app)
    with started.make_context(name, arguments, resilient_parsing=True) as context:
        _, command, rest = started.resolve_command(context, arguments)
        assert not command.make_context("serve", rest).args
