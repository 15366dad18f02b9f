"""A small HTTP server on the loopback interface that answers like an OpenAI-compatible one, and fails on demand.

    python -m tests.loopback --delay 0.1          prints its address, answers every request after 0.1 s

Tests and benchmarks measure against it where a real model would only add time. It is a real server on a real socket:
what it counts (requests, requests at once) is what arrived.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Self

HANG, CUT, CUT_BODY = "hang", "cut", "cut body"


@dataclass(frozen=True)
class Received:
    """One request: where it went, what it held, and how many came before it."""

    path: str
    headers: Mapping[str, str]
    body: Any
    number: int


@dataclass(frozen=True)
class Reply:
    """What is answered. ``fault``: HANG (no byte, until the client leaves), CUT (the connection closes at once),
    CUT_BODY (it closes in the middle of the body).
    """

    body: Any = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    fault: str | None = None


def completion(text: str, **more: Any) -> dict[str, Any]:
    """A reply that both endpoints' readers take: the choice has ``text`` and ``message``."""
    choice = {"index": 0, "finish_reason": "stop", **more}
    usage = {"prompt_tokens": 7, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 4}}
    return {"choices": [{**choice, "message": {"role": "assistant", "content": text}}], "usage": usage}


def failure(message: str, kind: str = "BadRequestError", param: str | None = None, code: int = 400) -> dict[str, Any]:
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}


def listing(*names: str, **parents: str) -> dict[str, Any]:
    """The body of ``/v1/models``: base models, and adapters with their parents."""
    rows = [{"id": name, "object": "model", "root": name, "parent": None} for name in names]
    return {"object": "list", "data": rows + [{"id": a, "object": "model", "parent": p} for a, p in parents.items()]}


class Loopback:
    """``with Loopback(answer) as server:`` serves ``answer(received)`` at ``server.url`` from a thread of its own.

    Attributes:
        received: all requests so far, in order.
        peak: the most requests it was answering at once.
    """

    def __init__(self, answer: Callable[[Received], Reply], port: int = 0) -> None:
        self.answer, self.port = answer, port
        self.received: list[Received] = []
        self.active = self.peak = self.connections = 0
        self._tasks: set[asyncio.Task[Any]] = set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def bodies(self, suffix: str = "completions") -> list[Any]:
        return [r.body for r in self.received if r.path.endswith(suffix)]

    def __enter__(self) -> Self:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._open(), self._loop).result()
        return self

    def __exit__(self, *error: object) -> None:
        asyncio.run_coroutine_threadsafe(self._shut(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _open(self) -> None:
        self._server = await asyncio.start_server(self._converse, "127.0.0.1", self.port, backlog=1024)
        self.port = self._server.sockets[0].getsockname()[1]

    async def _shut(self) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        self._tasks.add(task)
        self.connections += 1
        try:
            while await self._exchange(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self.connections -= 1
            self._tasks.discard(task)
            writer.close()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """One request and its reply; False where the connection ends with it."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        request_line, *lines = head.strip().split("\r\n")
        headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        content = await reader.readexactly(int(headers.get("content-length", 0)))
        _method, path, _version = request_line.split(" ")
        received = Received(path, headers, json.loads(content) if content else None, len(self.received))
        self.received.append(received)
        self.active += 1
        self.peak = max(self.peak, self.active)
        try:
            return await self._reply(self.answer(received), reader, writer)
        finally:
            self.active -= 1

    async def _reply(self, reply: Reply, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        if reply.fault == HANG or reply.delay:
            try:
                async with asyncio.timeout(None if reply.fault == HANG else reply.delay):
                    await reader.read(1)  # nothing comes until the client leaves
                return False
            except TimeoutError:
                pass
        if reply.fault == CUT:
            return False
        body = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
        headers = {"content-type": "application/json", "content-length": str(len(body)), **reply.headers}
        head = f"HTTP/1.1 {reply.status} -\r\n" + "".join(f"{k}: {v}\r\n" for k, v in headers.items()) + "\r\n"
        writer.write(head.encode() + (body[: len(body) // 2] if reply.fault == CUT_BODY else body))
        await writer.drain()
        return reply.fault is None


@contextmanager
def running(*, delay: float = 0.0, text: str = "hello") -> Iterator[str]:
    """The address of such a server in a process of its own, so that it takes no time of its clients' interpreter."""
    command = [sys.executable, "-m", "tests.loopback", "--delay", str(delay), "--text", text]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--delay", type=float, default=0.0, help="seconds before every reply")
    parser.add_argument("--text", default="hello", help="what every completion says")
    args = parser.parse_args()

    def answer(received: Received) -> Reply:
        if received.path.endswith("/models"):
            return Reply(listing("base"))
        return Reply(completion(args.text), delay=args.delay)

    with Loopback(answer, args.port) as server:
        print(server.url, flush=True)
        threading.Event().wait()


if __name__ == "__main__":
    main()
