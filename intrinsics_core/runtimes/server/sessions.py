"""Connections, one set per event loop: sockets and futures belong to the loop they were made on."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable, Coroutine
from typing import TYPE_CHECKING, Any

from intrinsics_core.runtimes.server.single_flight import SingleFlight

if TYPE_CHECKING:
    import openai


class Sessions:
    """The session of each event loop, made when first asked for with ``connect()``."""

    def __init__(self, connect: Callable[[], openai.AsyncOpenAI]) -> None:
        self._connect = connect
        self._lock = threading.Lock()
        self._sessions: dict[asyncio.AbstractEventLoop, Session] = {}

    def here(self) -> Session:
        """The running loop's."""
        loop = asyncio.get_running_loop()
        with self._lock:
            if loop not in self._sessions:
                for ended in [known for known in self._sessions if known.is_closed()]:
                    del self._sessions[ended]
                self._sessions[loop] = Session(self._connect)
            return self._sessions[loop]

    def close(self) -> None:
        """Close all connections and wait for it, but for those of the loop it is called on, which cannot be awaited."""
        try:
            here = asyncio.get_running_loop()
        except RuntimeError:
            here = None
        with self._lock:
            sessions, self._sessions = self._sessions, {}
        for loop, session in sessions.items():
            if loop is here:
                _in_background(session.close())
            elif loop.is_running():
                asyncio.run_coroutine_threadsafe(session.close(), loop).result(timeout=10)


class Session:
    """What belongs to one event loop: a client with its connections, and the requests under way."""

    def __init__(self, connect: Callable[[], openai.AsyncOpenAI]) -> None:
        self.flights = SingleFlight()
        self._connect = connect
        self._opening = asyncio.Lock()
        self._client: openai.AsyncOpenAI | None = None
        self._life: AsyncGenerator[openai.AsyncOpenAI, None] | None = None

    async def client(self) -> openai.AsyncOpenAI:
        if self._client is None:
            async with self._opening:
                if self._client is None:
                    self._life = self._live()
                    self._client = await anext(self._life)
        return self._client

    async def _live(self) -> AsyncGenerator[openai.AsyncOpenAI, None]:
        # An asynchronous generator, because an event loop closes those before it ends (`shutdown_asyncgens`): callers
        # who run one `asyncio.run` after another and never close the runtime leave no connection behind.
        # In a thread: the import and the certificates take long enough to be felt by a loop.
        client = await asyncio.to_thread(self._connect)
        try:
            yield client
        finally:
            await client.close()

    async def close(self) -> None:
        life, self._life, self._client = self._life, None, None
        if life:
            await life.aclose()


_closing: set[asyncio.Task[None]] = set()


def _in_background(work: Coroutine[Any, Any, None]) -> None:
    task = asyncio.get_running_loop().create_task(work)
    _closing.add(task)  # the loop itself keeps only a weak reference
    task.add_done_callback(_closing.discard)
