"""Connections, one set per event loop: sockets and futures belong to the loop they were made on."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Coroutine, Hashable
from typing import TYPE_CHECKING, Any

from intrinsics_core._support.fork_safety import Lock, renew_in_child

if TYPE_CHECKING:
    import openai


log = logging.getLogger(__name__)

_PATIENCE = 10.0  # seconds that closing waits for an event loop that does not get round to it

# What a forked child has of its parent's connections. They are never closed or finalised there: two processes share the
# sockets and the selectors, and a farewell from one would end what the other is in the middle of.
_inherited: list[object] = []


class Sessions:
    """The session of each event loop, made when first asked for with ``connect()``."""

    def __init__(self, connect: Callable[[], openai.AsyncOpenAI]) -> None:
        self._connect = connect
        self._lock = Lock()
        self._sessions: dict[asyncio.AbstractEventLoop, Session] = {}
        renew_in_child(self)

    def renew(self) -> None:
        """Begin without connections, as a forked child must."""
        _inherited.append(self._sessions)
        self._sessions = {}

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
                closing = asyncio.run_coroutine_threadsafe(session.close(), loop)
                try:
                    closing.result(timeout=_PATIENCE)
                except TimeoutError:
                    log.warning("connections of a busy event loop were not closed within %g s", _PATIENCE)


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


# --- work under way ---------------------------------------------------------------------------------------------------


class SingleFlight:
    """Work under way by key, on one event loop. It is cancelled when the last one who waits for it is."""

    def __init__(self) -> None:
        self._flights: dict[Hashable, _Flight] = {}

    async def join(self, key: Hashable, work: Callable[[], Coroutine[Any, Any, Any]]) -> tuple[Any, bool]:
        """(the outcome of the work, whether this caller is the first to be told).

        Not who started it: that one may have been cancelled while others still waited.
        """
        flight = self._flights.get(key)
        if flight is None:
            flight = self._flights[key] = _Flight(asyncio.create_task(work()))
        flight.waiters += 1
        try:
            outcome = await asyncio.shield(flight.task)
            first, flight.fetched = not flight.fetched, True
            return outcome, first
        finally:
            flight.waiters -= 1
            if not flight.waiters:
                del self._flights[key]
                if not flight.task.done():
                    flight.task.cancel()
                    await asyncio.wait([flight.task])  # nothing is left running behind the caller's back


class _Flight:
    __slots__ = ("fetched", "task", "waiters")

    def __init__(self, task: asyncio.Task[Any]) -> None:
        self.task, self.fetched, self.waiters = task, False, 0
