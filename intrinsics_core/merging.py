"""Many generators advanced as one: what they ask for at the same time is asked together. No I/O in here."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

from intrinsics_core.errors import IntrinsicsError
from intrinsics_core.exchange import Outcome, Program, Request

T = TypeVar("T")
OnResult = Callable[[int, Any], None]


def merge(
    programs: Iterable[Program[T] | IntrinsicsError],
    width: int,
    on_result: OnResult | None = None,
    *,
    keep: bool = True,
) -> Program[list[T | IntrinsicsError]]:
    """Many programs as one: each wave asks for all that the programs under way ask for.

    At most ``width`` programs are under way; one that ends makes room for the next. With ``keep=False``
    results are only told to ``on_result`` and the list stays empty.
    """
    queue: Iterator[tuple[int, Program[T] | IntrinsicsError]] = enumerate(programs)
    results: dict[int, T | IntrinsicsError] = {}
    active: dict[int, tuple[Program[T], Sequence[Request]]] = {}

    def advance(index: int, program: Program[T], outcomes: Sequence[Outcome] | None) -> None:
        requests, results_or_none = settled(program, outcomes)
        if requests is not None:
            active[index] = program, requests
            return
        active.pop(index, None)
        if keep:
            results[index] = results_or_none
        if on_result:
            on_result(index, results_or_none)

    while True:
        while len(active) < max(1, width) and (item := next(queue, None)) is not None:
            index, program = item
            advance(index, _raising(program) if isinstance(program, IntrinsicsError) else program, None)
        if not active:
            return [results[i] for i in range(len(results))]
        under_way = list(active.items())
        outcomes = iter((yield [request for _, (_, requests) in under_way for request in requests]))
        for index, (program, requests) in under_way:
            advance(index, program, [next(outcomes) for _ in requests])


def _raising(error: IntrinsicsError) -> Program[Any]:
    yield from ()  # makes this a program
    raise error


def step(program: Program[T], outcomes: Sequence[Outcome] | None) -> tuple[Sequence[Request] | None, Any]:
    """(next requests, None), or (None, result). StopIteration itself cannot cross threads or coroutines."""
    try:
        # None starts a generator; the type of `send` has no word for that.
        return program.send(outcomes), None  # type: ignore[arg-type]
    except StopIteration as stop:
        return None, stop.value


def settled(program: Program[T], outcomes: Sequence[Outcome] | None) -> tuple[Sequence[Request] | None, Any]:
    """Like :func:`step`, an exception becoming a result: in a batch it is one row's own."""
    try:
        return step(program, outcomes)
    except Exception as error:
        return None, as_intrinsics_error(error)


def as_intrinsics_error(error: Exception, *, copied: bool = False) -> IntrinsicsError:
    """The error as one of ours, with the original as its cause; a copy of its own where several rows share it."""
    if isinstance(error, IntrinsicsError):
        if not copied:
            return error
        own = copy.copy(error)
        own.__cause__ = error.__cause__ or error
        return own
    wrapped = IntrinsicsError(f"unexpected {type(error).__name__}: {error}")
    wrapped.__cause__ = error
    return wrapped
