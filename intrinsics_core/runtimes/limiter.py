"""At most so many at once, over all event loops and threads of the process, first come first served.

`asyncio.Semaphore` belongs to one loop; a runtime may be used from several (a background loop for synchronous callers,
a notebook's own), and its bound is a promise to the server.

A place outlives neither its event loop (one that is closed with tasks pending runs no ``finally``) nor its process: a
forked child starts with every place free.
"""

from __future__ import annotations

import asyncio
from collections import deque
from types import TracebackType

from intrinsics_core._support.fork_safety import Lock, renew_in_child
from intrinsics_core.protocol.errors import InvalidInput

_LOOK_AGAIN = 1.0  # seconds after which one who waits looks for places whose event loop has been closed


class Limiter:
    """``async with limiter.place():`` holds one of ``limit`` places."""

    def __init__(self, limit: int) -> None:
        self._limit = counted("runtime.concurrency", limit)
        self._lock = Lock()
        self.renew()
        renew_in_child(self)

    def renew(self) -> None:
        """All places free and nobody waiting: what held them did not come along into this process."""
        self._held: set[_HeldPlace] = set()
        self._waiting: deque[_HeldPlace] = deque()

    @property
    def limit(self) -> int:
        return self._limit

    @limit.setter
    def limit(self, limit: int) -> None:
        with self._lock:
            self._limit = counted("runtime.concurrency", limit)
            self._admit()

    @property
    def busy(self) -> int:
        """Places held."""
        return len(self._held)

    def place(self) -> _HeldPlace:
        """A place to wait for, hold and give back; for one ``async with``, on one event loop."""
        return _HeldPlace(self)

    def _enter(self, place: _HeldPlace) -> bool:
        """Take a place if one is free, else queue."""
        with self._lock:
            if len(self._held) >= self._limit:
                self._reclaim()
            if len(self._held) < self._limit and not self._waiting:
                self._held.add(place)
                return True
            self._waiting.append(place)
            return False

    def _look_again(self) -> None:
        with self._lock:
            self._reclaim()
            self._admit()

    def _leave(self, place: _HeldPlace) -> None:
        with self._lock:
            if place in self._held:  # not where it was reclaimed, or is the parent's
                self._held.discard(place)
            elif place in self._waiting:
                self._waiting.remove(place)
            self._admit()

    def _reclaim(self) -> None:
        """Take back what closed event loops hold: nobody there will."""
        for place in list(self._held):
            if place.loop.is_closed():
                self._held.discard(place)

    def _admit(self) -> None:
        while self._waiting and len(self._held) < self._limit:
            place = self._waiting.popleft()
            if place.wake():
                self._held.add(place)


class _HeldPlace:
    __slots__ = ("_admitted", "_limiter", "loop")

    def __init__(self, limiter: Limiter) -> None:
        self._limiter = limiter
        self.loop = asyncio.get_running_loop()

    async def __aenter__(self) -> None:
        self._admitted: asyncio.Future[None] = self.loop.create_future()
        if self._limiter._enter(self):
            return
        try:
            while not self._admitted.done():
                await asyncio.wait([self._admitted], timeout=_LOOK_AGAIN)
                if not self._admitted.done():
                    self._limiter._look_again()
        except BaseException:  # cancelled, perhaps in the moment it was admitted: then the place is handed on
            self._limiter._leave(self)
            raise

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._limiter._leave(self)

    def wake(self) -> bool:
        """Tell it that it has the place; False where its loop is gone and nobody waits any more."""
        try:
            self.loop.call_soon_threadsafe(self._resolve)
        except RuntimeError:
            return False
        return True

    def _resolve(self) -> None:
        if not self._admitted.done():
            self._admitted.set_result(None)


def counted(name: str, value: int) -> int:
    """The value, if it is a number of things.

    Raises:
        InvalidInput: it is no whole number from 1; the message has the name.
    """
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise InvalidInput(f"{name} is not a count", expected="a whole number of at least 1", got=repr(value))
    return value
