"""Each framework's own OpenAI class as a runtime, over real HTTP, against a server that answers as OpenAI's does.

Subclass ``OpenAITests`` and set ``runtime``.
"""

from __future__ import annotations

import asyncio
import json
import math
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

import pytest

from intrinsics_core import (
    ContextTooLong,
    IntrinsicsError,
    RequestTimeout,
    Runtime,
    RuntimeUnavailable,
    answerability,
    arun,
    run,
)
from intrinsics_core.protocol.results import Answerability

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
TEXT = "".join(token for token, _ in TOKENS)
KEY = "sk-openai-0123456789"


class Server(ThreadingHTTPServer):
    """Answers chats and responses; keeps what it was sent.

    Attributes:
        refuse: parameter -> what is said where a request has it.
        fail: status, message and code that every request ends in.
        hang: no request is answered before the test ends.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.seen: list[dict[str, Any]] = []
        self.refuse: dict[str, str] = {}
        self.fail: tuple[int, str, str | None] | None = None
        self.hang = False
        self.over = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"

    def answer(self, path: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        self.seen.append(body)
        if self.hang:
            self.over.wait()
        if self.fail:
            status, message, code = self.fail
            return status, {"error": {"message": message, "type": "error", "param": None, "code": code}}
        for name, message in self.refuse.items():
            if body.get(name):
                error = {"message": message, "type": "invalid_request_error", "param": name, "code": None}
                return 400, {"error": error}
        return 200, _response(body) if path.endswith("/responses") else _completion(body)


def _completion(body: dict[str, Any]) -> dict[str, Any]:
    choice: dict[str, Any] = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": TEXT}}
    if body.get("logprobs"):
        choice["logprobs"] = {"content": [_row(token, p) for token, p in TOKENS]}
    usage = {"prompt_tokens": 90, "completion_tokens": 6, "total_tokens": 96}
    usage |= {"prompt_tokens_details": {"cached_tokens": 64}}  # type: ignore[dict-item]
    return {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}


def _response(body: dict[str, Any]) -> dict[str, Any]:
    part: dict[str, Any] = {"type": "output_text", "text": TEXT, "annotations": []}
    if body.get("top_logprobs"):
        part["logprobs"] = [_row(token, p) for token, p in TOKENS]
    usage = {"input_tokens": 90, "output_tokens": 6, "total_tokens": 96}
    return {
        "id": "1",
        "object": "response",
        "created_at": 1,
        "model": "m",
        "status": "completed",
        "output": [{"id": "2", "type": "message", "role": "assistant", "status": "completed", "content": [part]}],
        "parallel_tool_calls": False,
        "tool_choice": "auto",
        "tools": [],
        "usage": usage
        | {"input_tokens_details": {"cached_tokens": 64}, "output_tokens_details": {"reasoning_tokens": 0}},
    }


def _row(token: str, probability: float) -> dict[str, Any]:
    top = [{"token": token, "logprob": math.log(probability), "bytes": []}]
    if probability < 1:
        top.append({"token": "answer", "logprob": math.log(1 - probability), "bytes": []})
    return {"token": token, "logprob": math.log(probability), "bytes": [], "top_logprobs": top}


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        status, reply = self.server.answer(self.path, body)
        data = json.dumps(reply).encode()
        try:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)
        except ConnectionError:  # a client that would not wait
            return

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield server
        server.over.set()
        server.shutdown()


def ask(runtime: Runtime, asynchronous: bool = False) -> Answerability:
    call = answerability(ASKED, PASSAGES)
    return asyncio.run(arun(call, runtime)) if asynchronous else run(call, runtime)


class OpenAITests:
    """``runtime`` makes one of the framework's class at ``server.url`` with the key ``KEY`` and no retries."""

    temperature: ClassVar[float | None] = None  # that the class sends where it is told none

    def runtime(self, server: Server, *, timeout: float = 120.0) -> Runtime:
        raise NotImplementedError

    @pytest.mark.parametrize("asynchronous", [False, True])
    def test_schema_log_probabilities_and_usage(self, server: Server, asynchronous: bool) -> None:
        result = ask(self.runtime(server), asynchronous)
        # "un" had .75 and the renormalised rest leads to the other label.
        assert (result.label, result.probability) == ("unanswerable", pytest.approx(0.25))
        (body,) = server.seen
        if "response_format" in body:
            assert body["response_format"]["type"] == "json_schema"
            told = body["response_format"]["json_schema"]
            assert (body["logprobs"], body.get("temperature")) == (True, self.temperature)
        else:
            told = body["text"]["format"]
        assert told["schema"]["properties"]["answerability"]["enum"] == ["answerable", "unanswerable"]
        assert body["top_logprobs"] == 20
        assert (usage := result.usage) is not None
        assert (usage.requests, usage.prompt_tokens, usage.completion_tokens, usage.cached_tokens) == (1, 90, 6, 64)

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
    def test_errors_of_the_provider_are_the_cores(
        self, server: Server, status: int, code: str | None, message: str, kind: type, asynchronous: bool
    ) -> None:
        server.fail = status, message, code
        with pytest.raises(IntrinsicsError) as caught:
            ask(self.runtime(server), asynchronous)
        assert type(caught.value) is kind
        assert message in str(caught.value)
        assert caught.value.intrinsic == "answerability"
        assert KEY not in str(caught.value)

    def test_a_server_that_hangs_is_a_timeout(self, server: Server) -> None:
        server.hang = True
        with pytest.raises(RequestTimeout):
            ask(self.runtime(server, timeout=0.2))


class RefusingTests(OpenAITests):
    """For frameworks in which any class can be told of a schema: what the model behind it refuses is left out."""

    @pytest.mark.parametrize(
        "refused", [("logprobs",), ("response_format",), ("logprobs", "response_format")], ids="+".join
    )
    def test_what_the_server_refuses_is_given_up(self, server: Server, refused: tuple[str, ...]) -> None:
        server.refuse = {name: f"{name} is not supported with this model" for name in refused}
        runtime = self.runtime(server)
        with pytest.warns(RuntimeWarning, match="refuses"):
            assert ask(runtime).label == "unanswerable"
        assert len(server.seen) == 1 + len(refused)
        ask(runtime)  # a warning would be an error: the decision is kept
        assert len(server.seen) == 2 + len(refused)
        assert not set(refused) & set(server.seen[-1])
