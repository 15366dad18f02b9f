"""Runtimes that show whether an event loop is free while they work."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Sequence
from typing import Any

import pytest

from intrinsics_core import AsyncRuntime, BlockingRuntime
from intrinsics_core.profiles.prompted import PROFILE
from intrinsics_core.protocol.errors import RequestTimeout
from intrinsics_core.protocol.requests import Outcome, Request
from tests.contract.judge import judge
from tests.scripted import outcome

PATIENCE = 120.0  # seconds until something counts as hanging; nothing waits so long where all is well


class Waiting(BlockingRuntime):
    """In-process work that ends when the event loop says so: on the loop's own thread it would never end."""

    profile = PROFILE

    def __init__(self) -> None:
        self.entered, self.released = threading.Event(), threading.Event()

    def handle(self, requests: Sequence[Request]) -> list[Outcome]:
        self.entered.set()
        if not self.released.wait(PATIENCE):
            raise RequestTimeout("the event loop was blocked while the runtime worked")
        return [outcome(judge(request)) for request in requests]


class OnLoop(AsyncRuntime):
    """Work over sockets, as far as the loop can tell; remembers the loops that it was awaited on."""

    profile = PROFILE

    def __init__(self) -> None:
        self.loops: set[asyncio.AbstractEventLoop] = set()

    async def ahandle(self, requests: Sequence[Request]) -> list[Outcome]:
        self.loops.add(asyncio.get_running_loop())
        await asyncio.sleep(0)
        return [outcome(judge(request)) for request in requests]


async def cancelled(work: Awaitable[Any], started: threading.Event) -> None:
    """Work that is given up once it has started."""
    task = asyncio.ensure_future(work)
    await asyncio.to_thread(started.wait, PATIENCE)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
