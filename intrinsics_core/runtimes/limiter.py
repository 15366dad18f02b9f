"""At most so many at once, over all event loops and threads of the process, first come first served.

`asyncio.Semaphore` belongs to one loop; a runtime may be used from several (a background loop for synchronous callers,
a notebook's own), and its bound is a promise to the server.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from types import TracebackType

from intrinsics_core.errors import InvalidInput


class Limiter:
    """``async with limiter:`` holds one of ``limit`` places."""

    def __init__(self, limit: int) -> None:
        self._limit, self._busy = _count(limit), 0
        self._lock = threading.Lock()
        self._waiting: deque[_Waiter] = deque()

    @property
    def limit(self) -> int:
        return self._limit

    @limit.setter
    def limit(self, limit: int) -> None:
        with self._lock:
            self._limit = _count(limit)
            self._admit()

    async def __aenter__(self) -> None:
        with self._lock:
            if self._busy < self._limit and not self._waiting:
                self._busy += 1
                return
            waiter = _Waiter()
            self._waiting.append(waiter)
        try:
            await waiter.admitted
        except asyncio.CancelledError:
            with self._lock:
                if waiter.has_place:  # given in the moment of the cancellation: hand it on
                    self._leave()
                else:
                    self._waiting.remove(waiter)
            raise

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._lock:
            self._leave()

    def _leave(self) -> None:
        self._busy -= 1
        self._admit()

    def _admit(self) -> None:
        while self._waiting and self._busy < self._limit:
            waiter = self._waiting.popleft()
            if waiter.wake():
                self._busy += 1


def _count(value: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise InvalidInput("runtime.concurrency is no count", expected="a whole number from 1", got=repr(value))
    return value


class _Waiter:
    __slots__ = ("_loop", "admitted", "has_place")

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self.admitted: asyncio.Future[None] = self._loop.create_future()
        self.has_place = False

    def wake(self) -> bool:
        """Give it the place; False where its loop is gone and nobody waits any more."""
        try:
            self._loop.call_soon_threadsafe(self._resolve)
        except RuntimeError:
            return False
        self.has_place = True
        return True

    def _resolve(self) -> None:
        if not self.admitted.done():
            self.admitted.set_result(None)
