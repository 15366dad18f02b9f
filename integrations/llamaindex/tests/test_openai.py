"""LlamaIndex's OpenAI classes, over real HTTP, against a server of our own that answers as OpenAI's does."""

from __future__ import annotations

import asyncio
import json
import math
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

pytest.importorskip("llama_index.llms.openai_like", reason="llama-index-llms-openai-like is not installed")

from llama_index.llms.openai_like import OpenAILike
from llama_index.postprocessor.rag_intrinsics import IntrinsicsRerank
from llama_index.rag_intrinsics import LLMRuntime

from intrinsics_core import ContextTooLong, RequestTimeout, RuntimeUnavailable, answerability, arun, run

ASKED = [{"role": "user", "content": "Who built the mill?"}]
PASSAGES = ["Ada Brink built the mill."]
TOKENS = [('{"', 1.0), ("answerability", 1.0), ('":"', 1.0), ("un", 0.75), ("answerable", 1.0), ('"}', 1.0)]
KEY = "sk-openai-0123456789"


class Server(ThreadingHTTPServer):
    """Answers chats; keeps what it was sent."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.seen: list[dict[str, Any]] = []
        self.fail: tuple[int, str] | None = None
        self.stuck = threading.Event()
        self.pause = 0.0

    def answer(self, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        self.seen.append(body)
        if self.fail:
            return self.fail[0], {"error": {"message": self.fail[1], "type": "error", "param": None, "code": None}}
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
        return 200, {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice],
                     "usage": usage}  # fmt: skip


def _row(token: str, probability: float) -> dict[str, Any]:
    top = [{"token": token, "logprob": math.log(probability), "bytes": None}]
    if probability < 1:
        top.append({"token": "answer", "logprob": math.log(1 - probability), "bytes": None})
    return {"token": token, "logprob": math.log(probability), "bytes": None, "top_logprobs": top}


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.stuck.wait(self.server.pause)
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


def llm(server: Server, **settings: Any) -> OpenAILike:
    settings = {"should_use_structured_outputs": True, "timeout": 120.0} | settings
    url = f"http://127.0.0.1:{server.server_port}/v1"
    return OpenAILike(model="m", api_base=url, api_key=KEY, is_chat_model=True, max_retries=0, **settings)


@pytest.mark.skipif(
    "should_use_structured_outputs" not in OpenAILike.model_fields, reason="this OpenAILike has no JSON schema output"
)
@pytest.mark.parametrize("asynchronous", [False, True])
def test_schema_log_probabilities_and_usage(server: Server, asynchronous: bool) -> None:
    call, runtime = answerability(ASKED, PASSAGES), LLMRuntime(llm(server))
    result = asyncio.run(arun(call, runtime)) if asynchronous else run(call, runtime)
    assert (result.label, result.probability) == ("unanswerable", pytest.approx(0.25))
    (body,) = server.seen
    assert body["response_format"]["json_schema"]["schema"]["properties"]["answerability"]["enum"]
    assert (body["logprobs"], body["top_logprobs"]) == (True, 20)
    assert result.usage is not None
    assert (result.usage.prompt_tokens, result.usage.completion_tokens, result.usage.cached_tokens) == (90, 6, 64)


def test_without_structured_outputs_it_is_asked_in_words(server: Server) -> None:
    run(answerability(ASKED, PASSAGES), LLMRuntime(llm(server, should_use_structured_outputs=False)))
    (body,) = server.seen
    assert "response_format" not in body and "tools" not in body and "logprobs" not in body


@pytest.mark.parametrize(
    ("fail", "kind"),
    [
        ((400, "This model's maximum context length is 4096 tokens."), ContextTooLong),
        ((401, "Incorrect API key provided"), RuntimeUnavailable),
        ((500, "boom"), RuntimeUnavailable),
    ],
)
def test_errors_of_the_server(server: Server, fail: tuple[int, str], kind: type[Exception]) -> None:
    server.fail = fail
    with pytest.raises(kind) as caught:
        run(answerability(ASKED, PASSAGES), LLMRuntime(llm(server)))
    assert KEY not in str(caught.value)


def test_a_server_that_hangs_is_a_timeout(server: Server) -> None:
    server.pause = 5.0
    with pytest.raises(RequestTimeout):
        run(answerability(ASKED, PASSAGES), LLMRuntime(llm(server, timeout=0.2)))


def test_the_key_of_an_llm_is_not_shown(server: Server) -> None:
    rerank = IntrinsicsRerank(runtime=llm(server))
    for text in (repr(rerank), str(rerank), rerank.to_json(), repr(rerank.to_dict()), repr(LLMRuntime(llm(server)))):
        assert KEY not in text
    assert rerank.to_dict()["runtime"] == {"kind": "OpenAILike"}
