"""Rows in threads: long ones, so that short ones do not wait for them, and all where a runtime wants it.

Rows of an in-process runtime are asked about together, wave by wave; one with a document of a megabyte would keep all
others of its wave waiting.
"""

from __future__ import annotations

import threading
from asyncio import CancelledError
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from typing import Any

from intrinsics_core._support import cancellation
from intrinsics_core.protocol.errors import RequestTimeout, as_intrinsics_error

_MOST = 8  # rows of a thread that wait their turn; each is in memory


class Aside:
    """``tell(index, result or error)`` as each row ends, from another thread.

    Args:
        seconds: what a row may take from its beginning; None: any time.
        threads: how many rows are at work at once.
    """

    def __init__(self, tell: Callable[[int, Any], None], seconds: float | None, threads: int = 1) -> None:
        self._tell, self._seconds = tell, seconds
        self._pool = ThreadPoolExecutor(threads, "rag-intrinsics-row")
        self._waiting: deque[Future[None]] = deque()
        self._most = _MOST * threads
        self._stopped = threading.Event()
        self._flags: set[threading.Event] = set()  # of the rows at work

    def put(self, index: int, work: Callable[[], Any]) -> None:
        """Begin a row when those before it have ended; waits while there are many."""
        while len(self._waiting) >= self._most:
            cancellation.result_of(self._waiting.popleft())
        self._waiting.append(self._pool.submit(copy_context().run, self._one, index, work))

    def finish(self) -> None:
        """Wait for all rows; raises what ``tell`` raised."""
        while self._waiting:
            cancellation.result_of(self._waiting.popleft())

    def close(self) -> None:
        """Give up the rows at work at their next look, and those that wait."""
        self._stopped.set()
        for flag in self._flags.copy():
            flag.set()
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _one(self, index: int, work: Callable[[], Any]) -> None:
        flag = threading.Event()
        self._flags.add(flag)
        if self._stopped.is_set():
            return
        once = threading.Lock()
        failed: list[BaseException] = []

        def tell(outcome: Any) -> None:
            if once.acquire(blocking=False) and not self._stopped.is_set():
                self._tell(index, outcome)

        def late() -> None:
            flag.set()
            try:
                tell(timed_out(self._seconds or 0))
            except BaseException as error:  # a full disk, told where rows are waited for
                failed.append(error)

        timer = threading.Timer(self._seconds, late) if self._seconds is not None else None
        if timer:
            timer.daemon = True
            timer.start()
        try:
            with cancellation.flagged(flag):
                outcome = work()
        except CancelledError:
            return
        except Exception as error:
            outcome = as_intrinsics_error(error)
        finally:
            self._flags.discard(flag)
            if timer:
                timer.cancel()
                timer.join()
            if failed:
                raise failed[0]
        tell(outcome)


def timed_out(seconds: float) -> RequestTimeout:
    """The error of a row that took too long."""
    return RequestTimeout(
        f"the row was not finished within {seconds:g} s", expected="a shorter row, or a longer time limit for each row"
    )
