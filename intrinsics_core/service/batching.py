"""Calls that come together are asked together; what does not fit into the line is asked to come again.

A runtime in this process does better with many requests than with one, and its work would stand in each other's way.
So one batch is under way at a time, and what comes meanwhile is the next one. A server runtime batches by itself: its
calls go to it at once.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from contextvars import Context, copy_context
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

from intrinsics_core import Call, IntrinsicsError, Profile, Runtime, RuntimeUnavailable, arun, arun_many
from intrinsics_core.protocol.errors import as_intrinsics_error
from intrinsics_core.protocol.requests import Outcome, Program

T = TypeVar("T")

WINDOW = 0.003  # seconds that the first call waits for others
_LARGE = 200_000  # characters from which a call is asked alone: others would wait for it


@dataclass(frozen=True)
class _Queued(Call[T]):
    """A call in the context of the request that it came with: spans find their parents. It ends with the request."""

    answer: asyncio.Future[Any] = field(kw_only=True)
    context: Context = field(kw_only=True)

    def start(self, profile: Any) -> Program[T]:
        running = self.context.run(super().start, profile)
        outcomes: Sequence[Outcome] | None = None
        try:
            while True:
                if self.answer.cancelled():
                    raise RuntimeUnavailable("the request was cancelled")
                try:
                    requests = self.context.run(running.send, cast(Any, outcomes))
                except StopIteration as stop:
                    value: T = stop.value
                    return value
                outcomes = yield requests
        finally:
            self.context.run(running.close)


class Batcher:
    """Asks calls on one runtime.

    Args:
        runtime: where they are asked.
        profile: how.
        waiting: how many calls may wait.
        window: seconds that the first of a batch waits for others.
    """

    def __init__(self, runtime: Runtime, profile: Profile, *, waiting: int, window: float = WINDOW) -> None:
        self.runtime, self.profile = runtime, profile
        self._most, self._window = waiting, window
        self._line: deque[_Queued[Any]] = deque()
        self._some = asyncio.Event()
        self._lane: asyncio.Task[None] | None = None
        self._places = asyncio.Semaphore(runtime.concurrency)
        self._waiting = 0  # for a place

    @property
    def waiting(self) -> int:
        """How many calls wait."""
        return len(self._line) + self._waiting

    async def ask(self, call: Call[T]) -> T:
        """The result of a call. Cancelled, it is asked no further.

        Raises:
            RuntimeUnavailable: too many wait already.
            IntrinsicsError: what the call ended in.
        """
        if not self.runtime.blocking:
            async with self.place():
                return await arun(call, self.runtime, profile=self.profile)
        self._check()
        answer: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._line.append(
            _Queued(call.task, call.program, call.fallback, call.composite, answer=answer, context=copy_context())
        )
        self._some.set()
        if self._lane is None or self._lane.done():
            self._lane = asyncio.create_task(self._work(), context=Context())
        return await answer

    async def close(self) -> None:
        """End what is under way, and tell those in line."""
        if self._lane is not None:
            self._lane.cancel()
            with suppress(asyncio.CancelledError):
                await self._lane
        while self._line:
            _settle(self._line.popleft().answer, RuntimeUnavailable("the service is shutting down"))

    @asynccontextmanager
    async def place(self) -> AsyncIterator[None]:
        """A place beside the batches, for what asks the runtime by itself; there are as many as calls under way.

        Raises:
            RuntimeUnavailable: too many wait already.
        """
        self._check()
        self._waiting += 1
        try:
            await self._places.acquire()
        finally:
            self._waiting -= 1
        try:
            yield
        finally:
            self._places.release()

    def _check(self) -> None:
        if self.waiting >= self._most:
            raise RuntimeUnavailable("too many requests are waiting", expected=f"at most {self._most}; try again later")

    async def _work(self) -> None:
        while True:
            if not self._line:
                self._some.clear()
                await self._some.wait()
                await asyncio.sleep(self._window)
            if batch := self._next():
                await self._together(batch)

    def _next(self) -> list[_Queued[Any]]:
        """Those in line that are asked next; who has left is passed over."""
        batch: list[_Queued[Any]] = []
        while self._line and len(batch) < self.runtime.concurrency:
            large = _size(self._line[0]) > _LARGE
            if large and batch:
                break
            asked = self._line.popleft()
            if not asked.answer.done():
                batch.append(asked)
            if large and batch:
                break
        return batch

    async def _together(self, batch: list[_Queued[Any]]) -> None:
        loop = asyncio.get_running_loop()

        def settle(index: int, outcome: Any) -> None:  # in the thread that works
            loop.call_soon_threadsafe(_settle, batch[index].answer, outcome)

        work = asyncio.create_task(
            arun_many(batch, self.runtime, profile=self.profile, concurrency=len(batch), on_result=settle, keep=False)
        )

        def left(_: asyncio.Future[Any]) -> None:
            if all(asked.answer.cancelled() for asked in batch):
                work.cancel()

        for asked in batch:
            asked.answer.add_done_callback(left)
        try:
            await asyncio.wait({work})
        finally:
            work.cancel()  # where this lane itself is ended
        await asyncio.sleep(0)  # what the thread handed over is settled first
        failed = None if work.cancelled() else work.exception()
        for asked in batch:
            error = (
                failed
                if isinstance(failed, Exception)
                else RuntimeUnavailable("the request was stopped because the service is shutting down")
            )
            _settle(asked.answer, as_intrinsics_error(error, copied=True))


def _settle(answer: asyncio.Future[Any], outcome: Any) -> None:
    if answer.done():
        return
    if isinstance(outcome, IntrinsicsError):
        answer.set_exception(outcome)
    else:
        answer.set_result(outcome)


def _size(call: Call[Any]) -> int:
    return sum(map(len, call.task.texts))
