"""A service as its users have it: a real server on a free port, in a thread or in a process of its own."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

PATIENCE = 120.0  # seconds until something counts as hanging; nothing waits so long where all is well


@contextmanager
def in_thread(app: Any) -> Iterator[str]:
    """The address of an app that is served from a thread of this process."""
    import socket

    import uvicorn

    server = uvicorn.Server(uvicorn.Config(app, log_level="error", timeout_graceful_shutdown=5))
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as bound:
        bound.bind(("127.0.0.1", 0))
        bound.listen()
        thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]}, daemon=True)
        thread.start()
        until = time.monotonic() + PATIENCE
        while not server.started and time.monotonic() < until:
            time.sleep(0.01)
        try:
            yield f"http://127.0.0.1:{bound.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(PATIENCE)


def command() -> list[str]:
    """The `intrinsics` command: of this environment, or where RAG_INTRINSICS_COMMAND says another is installed."""
    given = os.environ.get("RAG_INTRINSICS_COMMAND")
    return shlex.split(given) if given else [sys.executable, "-m", "intrinsics_core.cli"]


@contextmanager
def in_process(*arguments: str, port: int = 0) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """The address of `intrinsics serve` in a process of its own, and the process."""
    process = subprocess.Popen(
        [*command(), "serve", "--port", str(port), *arguments], stderr=subprocess.PIPE, text=True
    )
    assert process.stderr
    try:
        told = process.stderr.readline()
        assert " at http" in told, told + process.stderr.read()
        yield told.split(" at ")[1].split(",")[0].strip(), process
    finally:
        process.kill()
        process.wait()
        process.stderr.close()
