"""Requests that no client should send: bodies, heads, encodings and MCP frames, the same ones for every run of a seed.

Each is answered with a 4xx, or is an error of a tool or of JSON-RPC. `benchmarks/service.py` sends them under load.
"""

from __future__ import annotations

import json
import random
import socket
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

JSON_HEAD = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
ROUTES = ["/v1/rerank", "/v2/rerank", "/v1/score", "/v1/embeddings", "/v1/intrinsics/audit", "/v1/audit/stream"]
VALID: dict[str, dict[str, Any]] = {
    "/v1/rerank": {"query": "Who?", "documents": ["Ada."]},
    "/v2/rerank": {"query": "Who?", "documents": [{"text": "Ada."}]},
    "/v1/score": {"text_1": "Who?", "text_2": ["Ada."]},
    "/v1/embeddings": {"input": ["Ada."]},
    "/v1/intrinsics/audit": {"messages": [{"role": "user", "content": "Who?"},
                                          {"role": "assistant", "content": "Ada."}], "documents": ["Ada."]},
    "/v1/audit/stream": {"messages": [{"role": "user", "content": "Who?"}], "documents": ["Ada."]},
}  # fmt: skip
WRONG: list[Any] = [None, True, 0, -1, 1e308, {"a": 1}, {}, [[]], [None], [1.5], [{"x": "y"}]]

Head = tuple[str, str, dict[str, str], bytes]


def malformed(seed: int) -> Head:
    """(method, path, headers, body) of the request of that number."""
    draw = random.Random(seed)
    return draw.choice([_cut, _bytes, _wrong_value, _missing, _not_an_object, _no_route, _frame, _deep])(draw)


def _body(draw: random.Random) -> tuple[str, dict[str, Any]]:
    path = draw.choice(ROUTES)
    return path, json.loads(json.dumps(VALID[path]))


def _cut(draw: random.Random) -> Head:
    path, body = _body(draw)
    text = json.dumps(body).encode()
    return "POST", path, JSON_HEAD, text[: draw.randrange(len(text))]


def _bytes(draw: random.Random) -> Head:
    head = draw.choice([b"\xff", b"\x00", b"\xfe\xff", b"\x1f\x8b"])  # no UTF-8 begins so, nor JSON
    kind = draw.choice(["application/json", "text/plain", "application/json; charset=utf-16", "multipart/form-data"])
    return "POST", draw.choice(ROUTES), JSON_HEAD | {"content-type": kind}, head + draw.randbytes(draw.randrange(300))


def _wrong_value(draw: random.Random) -> Head:
    path, body = _body(draw)
    return "POST", path, JSON_HEAD, json.dumps(body | {draw.choice(list(body)): draw.choice(WRONG)}).encode()


def _missing(draw: random.Random) -> Head:
    path, body = _body(draw)
    del body[draw.choice(list(body))]
    return "POST", path, JSON_HEAD, json.dumps(body).encode()


def _not_an_object(draw: random.Random) -> Head:
    value = draw.choice(["null", "1", '"x"', "[]", "NaN", "Infinity", "-", "tru", "{]", "[1,]", "1" * 5000])
    return "POST", draw.choice(ROUTES), JSON_HEAD, value.encode()


def _no_route(draw: random.Random) -> Head:
    path = "/v1/" + "".join(draw.choice("abc/.%2e?#;=&") for _ in range(draw.randrange(1, 60))).replace("#", "")
    return draw.choice(["POST", "PUT", "PATCH", "DELETE"]), path, JSON_HEAD, b"{}"


def _deep(draw: random.Random) -> Head:
    depth = draw.randrange(1_000, 200_000)
    opening = draw.choice([b"[", b'{"a":', b'{"query": [', b'{"messages": ['])
    return "POST", draw.choice(ROUTES), JSON_HEAD, opening * depth


def _frame(draw: random.Random) -> Head:
    frame: dict[str, Any] = {
        "jsonrpc": "2.0", "id": draw.randrange(99), "method": "tools/call",
        "params": {"name": draw.choice(["rerank", "audit_answer", "cite", "none"]),
                   "arguments": {"query": draw.choice(WRONG), "answer": draw.choice(WRONG), "documents": 1}},
    }  # fmt: skip
    for key in draw.sample(list(frame), draw.randrange(3)):
        frame[key] = draw.choice([value for value in WRONG if value is not None])
    return "POST", "/mcp", JSON_HEAD, json.dumps(frame).encode()


def is_refused(status: int, content: bytes) -> bool:
    """Whether an answer says that the request was malformed."""
    if 400 <= status < 500:
        return True
    try:
        told = json.loads(content)
    except ValueError:
        return False
    return "error" in told or bool(told.get("result", {}).get("isError"))


def broken_heads() -> Iterator[bytes]:
    """Bytes that are no HTTP request, or an odd one; what answers them answers 4xx or closes."""
    yield b"\r\n\r\n"
    yield b"GARBAGE\r\n\r\n"
    yield b"GET / HTTP/9.9\r\nHost: localhost\r\n\r\n"
    yield b"GET /health HTTP/1.1\r\n\r\n"
    yield b"GET /health HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n"
    yield b"POST /v1/rerank HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n"
    yield b"POST /v1/rerank HTTP/1.1\r\nHost: localhost\r\nContent-Length: x\r\n\r\n"
    yield b"POST /v1/rerank HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999\r\n\r\n"
    yield b"POST /v1/rerank HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n"
    yield b"POST /v1/rerank HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip\r\n\r\n"
    yield b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n"
    yield b"GET /health HTTP/1.1\r\nHost: localhost\r\nX: " + b"y" * 100_000 + b"\r\n\r\n"
    yield b"GET /health HTTP/1.1\r\nHost: localhost\r\nX\x00: y\r\n\r\n"
    yield b"GET /health HTTP/1.1\r\nHost: evil.example\r\n\r\n"
    yield b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"  # the beginning of TLS
    yield b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
    yield b"GET /mcp HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n"


def status_of_raw(url: str, content: bytes, receive: Callable[[socket.socket], bytes] | None = None) -> int | None:
    """The status that raw bytes are answered with; None where the connection is closed, or kept without a word."""
    place = urlsplit(url)
    with socket.create_connection((place.hostname, place.port), timeout=5) as there:
        try:
            there.sendall(content)
            there.shutdown(socket.SHUT_WR)
            line = there.recv(64)
        except OSError:
            return None
    return int(line.split()[1]) if line.startswith(b"HTTP/") else None
