"""The tools, as the SDK's own client calls them, over both transports."""

from __future__ import annotations

import json
import subprocess
from contextlib import asynccontextmanager
from typing import Any

import mcp
import pytest
from mcp.client.stdio import StdioServerParameters, stdio_client

from intrinsics_core import audit, reranking, run
from intrinsics_core.service.short_results import MOST
from tests.service.running import PATIENCE, command

DOCUMENTS = [
    "The tide mill was built in 1911 by the engineer Ada Brink.",
    {"id": "fog", "text": "Fog is common in May."},
]
ANSWER = "The tide mill was built in 1911. She painted it gold for forty sailors."
QUESTION = "Who built the tide mill?"
CALLS: dict[str, dict[str, Any]] = {
    "audit_answer": {"question": QUESTION, "answer": ANSWER, "documents": DOCUMENTS},
    "is_answerable": {"question": QUESTION, "documents": DOCUMENTS},
    "rerank": {"query": QUESTION, "documents": DOCUMENTS, "top_n": 1},
    "rewrite_question": {
        "question": "And who built it?",
        "conversation": [
            {"role": "user", "content": "Is there a tide mill in Fenmouth?"},
            {"role": "assistant", "content": "Yes, the tide mill stands in Fenmouth."},
        ],
    },
    "cite": {"answer": ANSWER, "documents": DOCUMENTS},
    "check_citations": {"answer": "Ada Brink built the tide mill in 1911 [7].", "documents": DOCUMENTS},
    "check_facts": {"question": QUESTION, "answer": "Ada Brink built it. She was a pilot.", "sources": DOCUMENTS},
}
SAYS = {
    "audit_answer": "1 of 2 sentences are not fully supported",
    "is_answerable": "The documents answer the question",
    "rerank": "document 0",
    "rewrite_question": "tide mill",
    "cite": 'rests on document 0: "The tide mill was built in 1911',
    "check_citations": 'Citations that do not hold:\n- "[7]": there is no such document',
    "check_facts": "Probability that the sources support the answer",
}
MISFITS: list[tuple[str, Any]] = [
    ("audit_answer", {}), ("audit_answer", {"answer": 1, "documents": []}), ("audit_answer", {"answer": "x"}),
    ("audit_answer", {"answer": "x", "documents": "y"}), ("audit_answer", {"answer": "x", "documents": [{"a": 1}]}),
    ("is_answerable", {"question": "", "documents": ["x"]}), ("is_answerable", {"question": "?", "documents": None}),
    ("rerank", {"query": "?", "documents": ["x"], "top_n": 0}), ("rerank", {"query": "?", "documents": ["x"], "z": 1}),
    ("rerank", {"query": "?", "documents": ["x"], "runtime": "/etc/passwd"}),
    ("rewrite_question", {"question": "?", "conversation": [{"role": "root", "content": "x"}]}),
    ("check_facts", {"question": "?", "answer": "x", "sources": [None]}), ("no_such_tool", {}), ("", {"a": []}),
]  # fmt: skip


@asynccontextmanager
async def connected(transport, service):
    if transport == "http":
        async with mcp.Client(f"{service}/mcp") as client:
            yield client
        return
    program, *arguments = command()
    async with mcp.Client(stdio_client(StdioServerParameters(command=program, args=[*arguments, "mcp"]))) as client:
        yield client


@pytest.mark.parametrize("transport", ["http", pytest.param("stdio", marks=pytest.mark.slow)])
async def test_every_tool_and_every_misfit(service, transport):
    async with connected(transport, service) as client:
        tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools] == list(CALLS)
        for tool in tools:
            assert len(tool.description) < 300
            assert tool.input_schema["type"] == tool.output_schema["type"] == "object"
        for name, arguments in CALLS.items():
            told = await client.call_tool(name, arguments)  # the client checks the structure by the schema
            assert not told.is_error, told.content
            text = told.content[0].text
            assert SAYS[name] in text
            assert len(text) <= MOST
            assert told.structured_content
        for name, arguments in MISFITS:
            told = await client.call_tool(name, arguments)
            assert told.is_error, (name, arguments)
            assert told.content[0].text.startswith("InvalidInput: ")
        own = run(audit([{"role": "user", "content": QUESTION}, {"role": "assistant", "content": ANSWER}], DOCUMENTS))
        told = await client.call_tool("audit_answer", CALLS["audit_answer"])
        assert told.structured_content == own.model_dump(mode="json")


BAR = "When does the bar of the Hotel Alba open?"
HOURS = (("Hotel Alba", 6, 8), ("Hotel Bella", 9, 7))


def hotels(**given: Any) -> list[dict[str, Any]]:
    """Two documents of which only the title tells which is meant; each value is made of it."""
    return [{"text": f"The bar opens at {evening} pm. Breakfast is at {morning} am.",
             **{name: made(title) for name, made in given.items()}} for title, evening, morning in HOURS]  # fmt: skip


@pytest.mark.parametrize(
    "documents",
    [hotels(metadata=lambda title: {"title": title, "page": 3}), hotels(title=str), hotels(),
     hotels(title=str, metadata=lambda title: {"title": "Prices"}),
     hotels(title=lambda _: None, metadata=lambda title: {"title": title}),
     hotels(metadata=lambda _: None), hotels(score=lambda title: 0.9 if "Bella" in title else 0.4)],
)  # fmt: skip
async def test_a_document_is_read_as_everywhere_else(service, documents):
    said = "The bar of the Hotel Alba opens at 6 pm."
    asked = [{"role": "user", "content": BAR}]
    async with connected("http", service) as client:
        told = await client.call_tool("audit_answer", {"question": BAR, "answer": said, "documents": documents})
        own = run(audit([*asked, {"role": "assistant", "content": said}], documents))
        assert told.structured_content == own.model_dump(mode="json")
        ranked = await client.call_tool("rerank", {"query": BAR, "documents": documents})
        assert ranked.structured_content == run(reranking(asked, documents)).model_dump(mode="json")


@pytest.mark.parametrize(
    ("name", "given", "says"),
    [
        ("rerank", {"query": "?", "documents": ["", {"content": ""}]}, "documents.1.text is missing; expected a value"),
        ("rerank", {"query": "?", "documents": [{"text": "x", "title": 3}]},
         "documents.0.title does not fit; expected text"),
        ("check_facts", {"question": "?", "answer": "x", "sources": [None]},
         "sources.0 does not fit; expected text or an object"),
        ("rewrite_question", {"question": "", "conversation": [""]}, "conversation.0 does not fit; expected an object"),
        ("audit_answer", {"documents": []}, "answer is missing; expected a value"),
        ("rerank", {"query": "?", "documents": ["x"], "topn": 1},
         "'topn' is an unknown field (did you mean 'top_n'?); "
         "expected one of runtime, query, documents, top_n; got 'topn'"),
    ],
)  # fmt: skip
async def test_a_misfit_is_named(service, name, given, says):
    async with connected("http", service) as client:
        told = await client.call_tool(name, given)
        assert told.content[0].text == f"InvalidInput: {says}"


async def test_a_runtime_by_name(service):
    async with connected("http", service) as client:
        told = await client.call_tool("is_answerable", CALLS["is_answerable"] | {"runtime": "fast"})
        assert not told.is_error


def frames(*messages: Any) -> bytes:
    return b"".join(m if isinstance(m, bytes) else json.dumps(m).encode() + b"\n" for m in messages)


BEGIN = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
    "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}}  # fmt: skip
LAST = {"jsonrpc": "2.0", "id": "last", "method": "tools/call",
        "params": {"name": "is_answerable", "arguments": CALLS["is_answerable"]}}  # fmt: skip
ODD = [
    b"\n", b"nonsense\n", b"{\n", b"\xff\xfe\n", b"[]\n", b"null\n", b'"x"\n', b"[" * 5000 + b"\n", b"{}\n",
    {"jsonrpc": "1.0", "id": 1, "method": "tools/list"}, {"jsonrpc": "2.0", "id": [], "method": "tools/list"},
    {"jsonrpc": "2.0", "id": 2, "method": "no/such"}, {"jsonrpc": "2.0", "id": 3, "method": "tools/call"},
    {"jsonrpc": "2.0", "id": 4, "method": "tools/call", "params": []},
    {"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {"name": 1}},
    {"jsonrpc": "2.0", "id": 6, "method": "tools/call", "params": {"name": "rerank", "arguments": "x"}},
    {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 99}},
    {"jsonrpc": "2.0", "id": 77, "result": {}}, {"jsonrpc": "2.0", "id": 78, "error": {"code": 1, "message": "x"}},
]  # fmt: skip


@pytest.mark.slow
def test_odd_frames_do_not_break_a_session_over_stdio():
    with subprocess.Popen([*command(), "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write(frames(BEGIN, {"jsonrpc": "2.0", "method": "notifications/initialized"}, *ODD, LAST))
        process.stdin.flush()
        for line in process.stdout:
            answer = json.loads(line)
            if answer.get("id") == "last":
                break
        assert answer["result"]["structuredContent"]["label"] == "answerable"
        process.stdin.close()
        assert process.wait(PATIENCE) == 0


@pytest.mark.parametrize("frame", ODD)
def test_odd_frames_over_http_are_refused(http, frame):
    told = http.post("/mcp", content=frames(frame), headers={"accept": "application/json, text/event-stream"})
    assert told.status_code < 500
    assert http.get("/health").status_code == 200


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "PATCH"])
def test_other_methods(http, method):
    told = http.request(method, "/mcp", headers={"accept": "application/json"})
    assert 400 <= told.status_code < 500
