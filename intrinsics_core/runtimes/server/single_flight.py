"""Identical work under way is done once: whoever asks for the same while it runs waits for the same outcome."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Hashable
from typing import Any


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
