"""What a browser loads, and that none of it comes from elsewhere."""

from __future__ import annotations

import re

import httpx

from intrinsics_core.service.app import create_app
from intrinsics_core.service.pages import PAGE, install
from tests.service.running import in_thread


def test_the_requests_are_shown_with_examples_that_work(http, service):
    page = http.get("/docs")
    assert page.headers["content-type"].startswith("text/html")
    assert "default-src 'none'" in page.headers["content-security-policy"]
    places = re.findall(r"""(?:src|href)=["']([^"']+)""", page.text)
    assert places == ["/docs.css", "/openapi.json"]
    for place in places:
        assert http.get(place).status_code == 200
    import html
    import json

    assert "<td><code>top_n</code></td><td>integer, optional</td>" in page.text
    assert "<td><code>text_1</code></td><td>string or list of string</td>" in page.text and "Answers: 200" in page.text
    shown = re.findall(r"<pre>curl (?:-g )?(\S+) -d '(.*?)'</pre>", page.text, re.DOTALL)
    assert len(shown) >= 6
    for url, body in shown:
        path = url.removeprefix(service).replace("{name}", "audit").replace("/{session}", "")
        told = http.post(path, json=json.loads(html.unescape(body)))
        if "{session}" not in url and "{name}" not in url:
            assert told.status_code in (200, 201), (url, told.text)


def test_every_route_of_the_service_stands_in_the_schema(http):
    paths = set(http.get("/openapi.json").json()["paths"])
    assert paths == {
        "/v1/rerank", "/v2/rerank", "/v1/score", "/v1/embeddings", "/v1/models", "/v1/intrinsics",
        "/v1/intrinsics/{name}", "/v1/report", "/v1/audit/stream", "/v1/audit/stream/{session}",
        "/health", "/ready", "/metrics", "/rerank", "/score", "/embed",
    }  # fmt: skip


def test_the_page_and_all_that_it_names_is_served(http):
    """Its behaviour in a browser is tested in tests/service/page."""
    page = http.get("/").text
    places = re.findall(r"""(?:src|href)=["']([^"'#]+)""", page)
    modules = [place for place in places if place.endswith(".js")]
    for module in modules:  # grows while it is walked
        text = http.get(f"/{module}").text
        found = re.findall(r"""(?:from|import|fetch\(|ask\()\s*["'](?:\./|page/)([\w/.]+)["']""", text)
        modules += [
            name for name in dict.fromkeys(f"page/{one}" for one in found if one.endswith(".js")) if name not in modules
        ]
        places += [f"page/{one}" for one in found]
    assert len(modules) == len(list(PAGE.glob("*.js")))  # none is left over
    for place in places:
        told = http.get(f"/{place}")
        assert told.status_code == 200, place
        assert told.headers["cache-control"] == "no-cache"
    assert http.get("/page/report/html.py").status_code == http.get("/page/report/templates").status_code == 404


def test_without_a_page_the_root_leads_to_the_requests(tmp_path):
    from fastapi import FastAPI

    app = FastAPI()
    install(app, tmp_path / "none")
    with in_thread(app) as url:
        assert httpx.get(url, trust_env=False).headers["location"] == "/docs"


def test_a_page_is_served_from_its_folder_and_nothing_beside_it(tmp_path):
    from fastapi import FastAPI

    page = tmp_path / "page"
    page.mkdir()
    (page / "index.html").write_text("<title>x</title>")
    (page / "page.js").write_text("1")
    (tmp_path / "secret").write_text("no")
    app = FastAPI()
    install(app, page)
    with in_thread(app) as url, httpx.Client(base_url=url, trust_env=False) as http:
        assert http.get("/").text == "<title>x</title>"
        assert http.get("/page/page.js").text == "1"
        for path in ("/page/../secret", "/page/%2e%2e/secret", "/page/..%2fsecret", "/page//etc/passwd", "/page/"):
            assert http.get(path).status_code == 404


def test_a_path_that_is_no_route_is_a_problem(http):
    for method, path, status in (("GET", "/v1/none", 404), ("GET", "/v1/rerank", 405), ("PUT", "/health", 405)):
        told = http.request(method, path)
        assert (told.status_code, told.headers["content-type"]) == (status, "application/problem+json")


def test_counters(http):
    def total(start):
        page = http.get("/metrics").text
        return sum(float(line.rsplit(" ", 1)[1]) for line in page.splitlines() if line.startswith(start))

    labels = 'rag_intrinsics_verdicts_total{intrinsic="answerability",label="answerable"}'
    before = total(labels), total("rag_intrinsics_requests_total{")
    row = {"messages": [{"role": "user", "content": "Who built the mill?"}], "documents": ["Ada Brink built the mill."]}
    http.post("/v1/intrinsics/answerability", json=row)
    assert total(labels) == before[0] + 1
    assert total("rag_intrinsics_requests_total{") > before[1]
    assert total('rag_intrinsics_request_seconds_count{route="/v1/intrinsics/{name}"}') > 0
    assert total('rag_intrinsics_waiting{runtime="default"}') == 0


def test_spans_have_the_request_they_came_with_as_parent(service):
    """As the library does by itself; here calls are asked in a thread of a batch, for several requests at once."""
    import asyncio

    from opentelemetry import trace
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    from intrinsics_core import answerability, as_runtime
    from intrinsics_core.service.batching import Batcher

    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracer = provider.get_tracer("test")
    runtime = as_runtime(None)

    async def asked():
        batcher = Batcher(runtime, runtime.profile, waiting=9)

        async def one(name):
            with tracer.start_as_current_span(name):
                await batcher.ask(answerability([{"role": "user", "content": f"Who is {name}?"}], ["Ada."]))

        await asyncio.gather(*(one(f"request {i}") for i in range(3)))
        await batcher.close()

    before = trace._TRACER_PROVIDER
    trace._TRACER_PROVIDER = provider
    try:
        asyncio.run(asked())
    finally:
        trace._TRACER_PROVIDER = before
    spans = exporter.get_finished_spans()
    requests = {span.context.span_id: span.name for span in spans if span.name.startswith("request")}
    parents = [requests[span.parent.span_id] for span in spans if span.name == "evaluate answerability"]
    assert sorted(parents) == ["request 0", "request 1", "request 2"]


def test_importing_the_library_loads_none_of_it():
    import subprocess
    import sys

    code = (
        "import sys, intrinsics_core, intrinsics_core.cli.commands;"
        "sys.exit(str({'fastapi', 'uvicorn', 'mcp', 'prometheus_client', 'starlette'} & set(sys.modules) or 0))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert ran.stderr.strip() in ("", "0"), ran.stderr


def test_the_app_of_the_default(service):
    assert create_app().title == "RAG intrinsics"
