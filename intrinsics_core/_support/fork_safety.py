"""What a forked child must not inherit: locks that a thread of the parent held, and work that nobody in it does.

``os.fork`` copies memory and one thread. A server that loads a runtime and then forks its workers (gunicorn with
``--preload``, `multiprocessing` with ``fork``) would leave each of them with locks that are never released, places that
are never given back and connections that two processes read from.
"""

from __future__ import annotations

import os
import sys
import threading
import time
import weakref
from types import FrameType, TracebackType
from typing import Protocol


class Renewable(Protocol):
    """Something that holds state of this process alone."""

    def renew(self) -> None:
        """Forget that state. Called in a forked child, which has no other thread yet."""


_known: weakref.WeakSet[Renewable] = weakref.WeakSet()


def renew_in_child(thing: Renewable) -> None:
    """Have ``thing.renew()`` called in every child forked from now on. Nothing is kept alive by it."""
    _known.add(thing)


class Lock:
    """A lock for ``with`` that is free in a forked child, whoever held it in the parent.

    Reentrant: the garbage collector may run a finaliser anywhere, and what it runs may want the lock.
    """

    __slots__ = ("__weakref__", "_lock")

    def __init__(self) -> None:
        self.renew()
        renew_in_child(self)

    def renew(self) -> None:
        self._lock = threading.RLock()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._lock.release()


_PATIENCE = 10.0  # seconds that a fork waits for imports of other threads
_LOOK = 0.005  # seconds between two looks at them


def _after_imports() -> None:
    """Wait for the modules that other threads are importing: their locks would stay locked in the child for ever."""
    if _imports(sys._getframe()):
        return  # the fork itself is part of an import
    until = time.monotonic() + _PATIENCE
    while any(map(_imports, sys._current_frames().values())) and time.monotonic() < until:
        time.sleep(_LOOK)


def _imports(frame: FrameType | None) -> bool:
    """Whether a thread is inside an import: from the search for a module's file on it holds that module's lock."""
    while frame:
        if frame.f_code.co_filename == "<frozen importlib._bootstrap>":
            return True
        frame = frame.f_back
    return False


def _renew_all() -> None:
    for thing in list(_known):
        thing.renew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_after_imports, after_in_child=_renew_all)
