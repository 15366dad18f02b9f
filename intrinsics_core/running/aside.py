"""Long rows in a thread of their own, so that short ones do not wait for them.

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

_MOST = 8  # long rows that wait their turn; each is in memory


class Aside:
    """``tell(index, result or error)`` as each long row ends, from another thread.

    Args:
        seconds: what a row may take from its beginning; None: any time.
    """

    def __init__(self, tell: Callable[[int, Any], None], seconds: float | None) -> None:
        self._tell, self._seconds = tell, seconds
        self._pool = ThreadPoolExecutor(1, "rag-intrinsics-long-row")
        self._waiting: deque[Future[None]] = deque()
        self._stopped = threading.Event()
        self._flag: threading.Event | None = None

    def put(self, index: int, work: Callable[[], Any]) -> None:
        """Begin a row when those before it have ended; waits while there are many."""
        while len(self._waiting) >= _MOST:
            cancellation.result_of(self._waiting.popleft())
        self._waiting.append(self._pool.submit(copy_context().run, self._one, index, work))

    def finish(self) -> None:
        """Wait for all rows; raises what ``tell`` raised."""
        while self._waiting:
            cancellation.result_of(self._waiting.popleft())

    def close(self) -> None:
        """Give up the row at work at its next look, and those that wait."""
        self._stopped.set()
        if self._flag:
            self._flag.set()
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _one(self, index: int, work: Callable[[], Any]) -> None:
        self._flag = flag = threading.Event()
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

        timer = threading.Timer(self._seconds, late) if self._seconds else None
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
            if timer:
                timer.cancel()
                timer.join()
            if failed:
                raise failed[0]
        tell(outcome)


def timed_out(seconds: float) -> RequestTimeout:
    """The error of a row that took too long."""
    return RequestTimeout(
        f"the row was not done within {seconds:g} s", expected="a shorter row, or more time for a row"
    )
