"""The most used provider's own class, over real HTTP, against a server of our own that answers as OpenAI's does."""

from __future__ import annotations

import asyncio
import json
import math
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

pytest.importorskip("langchain_openai", reason="langchain-openai is not installed")

from langchain_core.load import dumps
from langchain_core.messages import AIMessage
from langchain_openai import ChatOpenAI
from langchain_rag_intrinsics import AnswerabilityGate, ChatModelRuntime, CitationGenerator

from integrations.langchain.tests.scripts import FAITHFUL, QUESTION, documents, judging
from intrinsics_core import (
    ContextTooLong,
    IntrinsicsError,
    RequestTimeout,
    RuntimeUnavailable,
    answerability,
    arun,
    query_rewrite,
    run,
)

ASKED = [{"role": "user", "content": "Who built the mill?"}]
PASSAGES = ["Ada Brink built the mill."]
TOKENS = [
    ('{"', 1.0),
    ("answerability", 1.0),
    ('":"', 1.0),
    ("un", 0.75),
    ("answerable", 1.0),
    ('","confidence":1}', 1.0),
]
KEY = "sk-openai-0123456789"


class Server(ThreadingHTTPServer):
    """Answers with ``reply`` (status, body); keeps what it was sent."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.seen: list[dict[str, Any]] = []
        self.refuse: dict[str, str] = {}
        self.fail: tuple[int, dict[str, Any]] | None = None
        self.stuck = threading.Event()

    def answer(self, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        self.seen.append(body)
        if self.fail:
            return self.fail
        for name, message in self.refuse.items():
            if body.get(name):
                return 400, {
                    "error": {"message": message, "type": "invalid_request_error", "param": name, "code": None}
                }
        choice: dict[str, Any] = {
            "index": 0,
            "finish_reason": "stop",
            "message": {"role": "assistant", "content": "".join(token for token, _ in TOKENS)},
        }
        if body.get("logprobs"):
            choice["logprobs"] = {"content": [_row(token, p) for token, p in TOKENS]}
        usage = {
            "prompt_tokens": 90,
            "completion_tokens": 6,
            "total_tokens": 96,
            "prompt_tokens_details": {"cached_tokens": 64},
        }
        return 200, {
            "id": "1",
            "object": "chat.completion",
            "created": 1,
            "model": "m",
            "choices": [choice],
            "usage": usage,
        }


def _row(token: str, probability: float) -> dict[str, Any]:
    top = [{"token": token, "logprob": math.log(probability), "bytes": None}]
    if probability < 1:
        top.append({"token": "answer", "logprob": math.log(1 - probability), "bytes": None})
    return {"token": token, "logprob": math.log(probability), "bytes": None, "top_logprobs": top}


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.stuck.wait(0.0 if not body.get("user") else 3.0)
        status, reply = self.server.answer(body)
        data = json.dumps(reply).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield server
        server.stuck.set()
        server.shutdown()


def model(server: Server, **settings: Any) -> ChatOpenAI:
    url = f"http://127.0.0.1:{server.server_port}/v1"
    return ChatOpenAI(model="m", base_url=url, api_key=KEY, max_retries=0, temperature=0, **settings)  # type: ignore[arg-type]


@pytest.mark.parametrize("asynchronous", [False, True])
def test_schema_log_probabilities_and_usage(server: Server, asynchronous: bool) -> None:
    runtime = ChatModelRuntime(model(server))
    call = answerability(ASKED, PASSAGES)
    result = asyncio.run(arun(call, runtime)) if asynchronous else run(call, runtime)
    assert (result.label, result.probability) == ("unanswerable", pytest.approx(0.25))
    (body,) = server.seen
    assert body["response_format"]["type"] == "json_schema"
    assert body["response_format"]["json_schema"]["schema"]["properties"]["answerability"]["enum"]
    assert (body["logprobs"], body["top_logprobs"], body["temperature"]) == (True, 20, 0.0)
    assert result.usage is not None
    assert (result.usage.prompt_tokens, result.usage.completion_tokens, result.usage.cached_tokens) == (90, 6, 64)


@pytest.mark.parametrize("name", ["logprobs", "response_format"])
def test_what_the_server_refuses_is_given_up(server: Server, name: str) -> None:
    server.refuse = {name: f"{name} is not supported with this model"}
    with pytest.warns(RuntimeWarning, match="refuses"):
        result = run(answerability(ASKED, PASSAGES), ChatModelRuntime(model(server)))
    assert result.label == "unanswerable"
    assert name in server.seen[0]
    assert not server.seen[1].get(name)


def test_both_refused(server: Server) -> None:
    server.refuse = {name: f"{name} is not supported" for name in ("logprobs", "response_format")}
    with pytest.warns(RuntimeWarning, match="refuses"):
        assert run(answerability(ASKED, PASSAGES), ChatModelRuntime(model(server))).label == "unanswerable"
    assert len(server.seen) == 3


@pytest.mark.parametrize(
    ("status", "code", "message", "kind"),
    [
        (429, "rate_limit_exceeded", "Rate limit reached", RuntimeUnavailable),
        (401, "invalid_api_key", "Incorrect API key provided", RuntimeUnavailable),
        (500, None, "The server had an error", RuntimeUnavailable),
        (400, "context_length_exceeded", "This model's maximum context length is 4096 tokens.", ContextTooLong),
    ],
)
@pytest.mark.parametrize("asynchronous", [False, True])
def test_errors(server: Server, status: int, code: str | None, message: str, kind: type, asynchronous: bool) -> None:
    server.fail = status, {"error": {"message": message, "type": "error", "param": None, "code": code}}
    call, runtime = answerability(ASKED, PASSAGES), ChatModelRuntime(model(server))
    with pytest.raises(IntrinsicsError) as caught:
        _ = asyncio.run(arun(call, runtime)) if asynchronous else run(call, runtime)
    assert type(caught.value) is kind
    assert message in str(caught.value)
    assert caught.value.intrinsic == "answerability"


def test_a_slow_server_times_out(server: Server) -> None:
    slow = model(server, timeout=0.2, model_kwargs={"user": "slow"})
    with pytest.raises(RequestTimeout):
        run(answerability(ASKED, PASSAGES), ChatModelRuntime(slow))


def test_nobody_listens() -> None:
    away = ChatOpenAI(model="m", base_url="http://127.0.0.1:9/v1", api_key=KEY, max_retries=0)  # type: ignore[arg-type]
    with pytest.raises(RuntimeUnavailable):
        run(query_rewrite(ASKED), ChatModelRuntime(away))


def test_its_key_is_not_shown(server: Server) -> None:
    gate = AnswerabilityGate(runtime=model(server))
    for text in (repr(gate), str(gate), dumps(gate), repr(gate.engine), repr(gate.model_dump())):
        assert KEY not in text


def test_an_annotated_answer_is_taken_back_as_history(server: Server) -> None:
    given = {"question": QUESTION, "documents": documents(), "answer": AIMessage(FAITHFUL)}
    answer = CitationGenerator(runtime=judging()).invoke(given)
    assert answer.content_blocks[0]["annotations"]
    model(server).invoke([("human", QUESTION), answer, ("human", "Are you sure?")])
    assert server.seen[0]["messages"][1]["content"] in (FAITHFUL, [{"type": "text", "text": FAITHFUL}])
