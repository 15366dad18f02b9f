"""Long work that can be given up: it asks now and then whether anybody still waits for it.

A thread cannot be stopped from outside. Work on the CPU calls :func:`check` between its batches; who waits for the
thread holds the :func:`given_up` flag of its context and sets it on leaving.
"""

from __future__ import annotations

import threading
from asyncio import CancelledError
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_flag: ContextVar[threading.Event | None] = ContextVar("rag_intrinsics_given_up", default=None)


@contextmanager
def given_up() -> Iterator[None]:
    """Within it, threads started with this context (`asyncio.to_thread`) stop at their next :func:`check` once an
    error, a cancellation above all, ends the block.
    """
    flag = threading.Event()
    token = _flag.set(flag)
    try:
        yield
    except BaseException:
        flag.set()
        raise
    finally:
        _flag.reset(token)


def check() -> None:
    """Raises CancelledError where nobody waits for this work any more."""
    flag = _flag.get()
    if flag is not None and flag.is_set():
        raise CancelledError("nobody waits for this any more")
