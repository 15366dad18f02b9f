"""Haystack's own OpenAI generators, over real HTTP, against a server of our own that answers as OpenAI's does."""

import asyncio
import json
import math
import threading
import warnings
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from haystack.components.generators.chat import OpenAIChatGenerator, OpenAIResponsesChatGenerator
from haystack.utils import Secret
from haystack_integrations.common.rag_intrinsics import ChatGeneratorRuntime
from haystack_integrations.components.routers.rag_intrinsics import RagIntrinsicsAnswerabilityRouter

from integrations.haystack.tests.scripts import QUESTION, documents
from intrinsics_core import ContextTooLong, RuntimeUnavailable, answerability, run

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
    """Answers with what the two APIs answer; keeps what it was sent."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.seen: list[dict[str, Any]] = []
        self.refuse: dict[str, str] = {}
        self.fail: tuple[int, str] | None = None

    def answer(self, path: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        self.seen.append(body)
        if self.fail:
            return self.fail[0], {"error": {"message": self.fail[1], "type": "error", "param": None, "code": None}}
        for name, message in self.refuse.items():
            if body.get(name):
                return 400, {"error": {"message": message, "type": "invalid_request_error", "param": name}}
        return 200, _response(body) if path.endswith("/responses") else _completion(body)


def _completion(body: dict[str, Any]) -> dict[str, Any]:
    choice: dict[str, Any] = {
        "index": 0,
        "finish_reason": "stop",
        "message": {"role": "assistant", "content": TEXT},
    }
    if body.get("logprobs"):
        choice["logprobs"] = {"content": [_row(token, p) for token, p in TOKENS]}
    usage = {"prompt_tokens": 90, "completion_tokens": 6, "total_tokens": 96}
    return {
        "id": "1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [choice],
        "usage": usage | {"prompt_tokens_details": {"cached_tokens": 64}},
    }


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
        server.shutdown()


def generator(server: Server, kind: Any = OpenAIChatGenerator) -> Any:
    url = f"http://127.0.0.1:{server.server_port}/v1"
    return kind(api_key=Secret.from_token(KEY), model="m", api_base_url=url, max_retries=0, timeout=120)


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("kind", [OpenAIChatGenerator, OpenAIResponsesChatGenerator])
def test_schema_logprobs_and_usage_go_over_the_wire(server: Server, kind: Any, asynchronous: bool) -> None:
    router = RagIntrinsicsAnswerabilityRouter(generator(server, kind))

    async def main() -> Any:
        found = await router.run_async(query=QUESTION, documents=documents())
        await router.close_async()
        return found

    found = asyncio.run(main()) if asynchronous else router.run(query=QUESTION, documents=documents())
    assert found["unanswerable"] == QUESTION
    # "un" had .75 and the renormalised rest leads to the other label.
    assert found["result"]["probability"] == pytest.approx(0.25)
    [sent] = server.seen
    told = sent["response_format"]["json_schema"] if kind is OpenAIChatGenerator else sent["text"]["format"]
    assert told["schema"]["properties"]["answerability"]["enum"] == ["answerable", "unanswerable"]
    assert sent["top_logprobs"] == 20


@pytest.mark.parametrize("kind", [OpenAIChatGenerator, OpenAIResponsesChatGenerator])
def test_tokens_are_counted(server: Server, kind: Any) -> None:
    usage = run(answerability(ASKED, PASSAGES), ChatGeneratorRuntime(generator(server, kind))).usage
    assert usage is not None
    assert (usage.requests, usage.prompt_tokens, usage.completion_tokens, usage.cached_tokens) == (1, 90, 6, 64)


def test_what_a_model_refuses_is_left_out(server: Server) -> None:
    server.refuse = {"logprobs": "Unsupported parameter: 'logprobs'", "response_format": "response_format is unknown"}
    runtime = ChatGeneratorRuntime(generator(server))
    with pytest.warns(RuntimeWarning, match="now asked without"):
        assert run(answerability(ASKED, PASSAGES), runtime).label == "unanswerable"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run(answerability(ASKED, PASSAGES), runtime)
    assert "logprobs" not in server.seen[-1] and "response_format" not in server.seen[-1]


@pytest.mark.parametrize(
    ("status", "message", "expected"),
    [
        (400, "This model's maximum context length is 8192 tokens", ContextTooLong),
        (500, "boom", RuntimeUnavailable),
        (401, "Incorrect API key provided", RuntimeUnavailable),
    ],
)
def test_errors_of_the_provider_are_the_cores(server: Server, status: int, message: str, expected: Any) -> None:
    server.fail = (status, message)
    with pytest.raises(expected) as caught:
        run(answerability(ASKED, PASSAGES), ChatGeneratorRuntime(generator(server)))
    assert caught.value.intrinsic == "answerability"
    assert KEY not in str(caught.value)
