"""What is done step by step, written once for synchronous and asynchronous callers.

A program yields the name of what is to be done, with its argument, and is sent what came of it. It does nothing itself.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Iterator, Mapping
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


OUT, PIECE, ENDED = "out", "piece", object()
"""Steps of a program over a stream: what it gives goes out; the next piece that comes in, or `ENDED`."""


def stream_steps(program: Steps[None], pieces: Iterator[Any], do: Mapping[str, Callable[[Any], Any]]) -> Iterator[Any]:
    """What a program over a stream gives, as it gives it.

    Args:
        program: its steps are `OUT`, `PIECE` and the names in ``do``.
        pieces: the stream that comes in.
        do: by name, what each other step does with its argument.
    """
    wanted, _ = step(program, None)
    while wanted:
        name, given = wanted
        if name == OUT:
            yield given
        sent = None if name == OUT else next(pieces, ENDED) if name == PIECE else do[name](given)
        wanted, _ = step(program, sent)


async def astream_steps(
    program: Steps[None], pieces: AsyncIterator[Any], do: Mapping[str, Callable[[Any], Awaitable[Any]]]
) -> AsyncIterator[Any]:
    """Like :func:`stream_steps`; each step is awaited."""
    wanted, _ = step(program, None)
    while wanted:
        name, given = wanted
        if name == OUT:
            yield given
        sent = None if name == OUT else await anext(pieces, ENDED) if name == PIECE else await do[name](given)
        wanted, _ = step(program, sent)
