"""Long work that can be given up: it asks now and then whether anybody still waits for it.

A thread cannot be stopped from outside. Work on the CPU calls :func:`check` between its batches; who waits for the
thread holds the :func:`given_up` flag of its context and sets it on leaving, and waits by :func:`result_of`, which
Ctrl-C ends.
"""

from __future__ import annotations

import threading
from asyncio import CancelledError
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

T = TypeVar("T")

LOOK_UP = 0.5
"""Seconds that are waited at a time: the system may give Ctrl-C to another thread, and only the main one raises it,
once it is awake.
"""

_flag: ContextVar[threading.Event | None] = ContextVar("rag_intrinsics_given_up", default=None)


@contextmanager
def given_up() -> Iterator[None]:
    """Within it, threads started with this context (`asyncio.to_thread`) stop at their next :func:`check` once an
    error, a cancellation above all, ends the block.
    """
    flag = threading.Event()
    with flagged(flag):
        try:
            yield
        except BaseException:
            flag.set()
            raise


@contextmanager
def flagged(flag: threading.Event) -> Iterator[None]:
    """Within it, work stops at its next :func:`check` once this flag is set."""
    token = _flag.set(flag)
    try:
        yield
    finally:
        _flag.reset(token)


def result_of(future: Future[T]) -> T:
    """What another thread makes, or the error that it ends with; a signal is heeded meanwhile."""
    while True:
        try:
            return future.result(LOOK_UP)
        except TimeoutError:
            if future.done():  # it is the work's own
                return future.result()


def check() -> None:
    """Raises CancelledError where nobody waits for this work any more."""
    flag = _flag.get()
    if flag is not None and flag.is_set():
        raise CancelledError("the request was cancelled")
