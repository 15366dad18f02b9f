"""What is done step by step, written once for synchronous and asynchronous callers.

A program yields the name of what is to be done, with its argument, and is sent what came of it. It does nothing itself.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Mapping
from typing import Any, TypeVar

from intrinsics_core.protocol.call import step

T = TypeVar("T")
Steps = Generator[tuple[str, Any], Any, T]


def run_steps(program: Steps[T], do: Mapping[str, Callable[[Any], Any]]) -> T:
    """The program's result.

    Args:
        do: by name, what each step does with its argument. An error that it raises ends the program, which cannot
            catch it.
    """
    wanted, result = step(program, None)
    while wanted:
        name, given = wanted
        wanted, result = step(program, do[name](given))
    found: T = result
    return found


async def arun_steps(program: Steps[T], do: Mapping[str, Callable[[Any], Awaitable[Any]]]) -> T:
    """Like :func:`run_steps`; each step is awaited."""
    wanted, result = step(program, None)
    while wanted:
        name, given = wanted
        wanted, result = step(program, await do[name](given))
    found: T = result
    return found
