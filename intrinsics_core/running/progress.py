"""How far a run of many calls is, told to its caller or on standard error."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterable, Sized
from typing import Any

Progress = bool | Callable[[int, int | None], None]
"""True: a line on standard error. A function: it is told how many calls have ended, and of how many (None: unknown)."""


def counting(
    progress: Progress, calls: Iterable[Any], on_result: Callable[[int, Any], None] | None
) -> Callable[[int, Any], None] | None:
    """``on_result`` that counts, too. With ``progress=False`` it is what was given.

    Args:
        progress: whom to tell.
        calls: their number is told where it is known.
        on_result: what is called besides.
    """
    if progress is False:
        return on_result
    tell = _on_a_line if progress is True else progress
    total, lock, done = len(calls) if isinstance(calls, Sized) else None, threading.Lock(), 0

    def counted(index: int, result: Any) -> None:
        nonlocal done
        if on_result:
            on_result(index, result)
        with lock:
            done += 1
            tell(done, total)

    return counted


def _on_a_line(done: int, total: int | None) -> None:
    ended = done == total
    print(f"\r{done}{'' if total is None else f' of {total}'} done", end="\n" if ended else "", file=sys.stderr,
          flush=True)  # fmt: skip
