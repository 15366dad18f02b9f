"""Drivers: the same generator run synchronously, asynchronously, or many at once.

Nothing here knows what is asked. A driver advances a generator, hands what it yields to a runtime and sends the
answers back. The asynchronous drivers never run long work on the event loop: in-process runtimes work in a thread,
and so does the advancing of calls with much text.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

from intrinsics_core._support import cancellation
from intrinsics_core._support.cancellation import given_up
from intrinsics_core.protocol.call import Call, merge, step, watched
from intrinsics_core.protocol.errors import IntrinsicsError, InvalidInput, as_intrinsics_error
from intrinsics_core.protocol.profile import Profile
from intrinsics_core.protocol.requests import Embed, Outcome, Program, Request, Retrieve
from intrinsics_core.running.aside import Aside, timed_out
from intrinsics_core.running.progress import Progress, counting
from intrinsics_core.runtimes import Runtime, as_runtime
from intrinsics_core.runtimes.base import aanswers, answers
from intrinsics_core.text import sentences

T = TypeVar("T")
RuntimeLike = object  # what `as_runtime` takes; the core does not know the classes of a framework's chat models
ProfileLike = Profile | str | None
OnResult = Callable[[int, Any], None]


def run(call: Call[T], runtime: RuntimeLike = None, *, profile: ProfileLike = None) -> T:
    """Run one call to its result. Works inside a running event loop too (it blocks it; prefer :func:`arun` there).

    Args:
        call: what an intrinsic function returned.
        runtime: a runtime, a config such as ``{"kind": "server", "base_url": ...}``, a chat model of a framework whose
            integration is imported (:func:`as_runtime`), or None for the embedded one.
        profile: a profile or its name; the runtime's own where left out.

    Returns:
        The result that the intrinsic's docstring describes.

    Raises:
        IntrinsicsError: see :mod:`intrinsics_core.protocol.errors`.
    """
    engine = as_runtime(runtime)
    return _drive(_checked(call).start(engine.profile_of(profile)), engine)


async def arun(call: Call[T], runtime: RuntimeLike = None, *, profile: ProfileLike = None) -> T:
    """Like :func:`run`, without ever blocking the event loop.

    Args:
        call: what an intrinsic function returned.
        runtime: a runtime, a config such as ``{"kind": "server", "base_url": ...}``, a chat model of a framework whose
            integration is imported (:func:`as_runtime`), or None for the embedded one.
        profile: a profile or its name; the runtime's own where left out.

    Returns:
        The result that the intrinsic's docstring describes.

    Raises:
        IntrinsicsError: see :mod:`intrinsics_core.protocol.errors`.
    """
    engine = as_runtime(runtime)
    call = _checked(call)
    if engine.blocking:
        with given_up():
            return await asyncio.to_thread(run, call, engine, profile=profile)
    return await _adrive(call.start(engine.profile_of(profile)), engine, heavy=call.heavy)


def run_many(
    calls: Iterable[Call[T] | IntrinsicsError],
    runtime: RuntimeLike = None,
    *,
    profile: ProfileLike = None,
    concurrency: int | None = None,
    on_result: OnResult | None = None,
    keep: bool = True,
    row_timeout: float | None = None,
    progress: Progress = False,
) -> list[T | IntrinsicsError]:
    """Run many calls; what they ask for at the same time reaches the runtime together.

    Args:
        calls: consumed lazily. An error among them (a row that was bad from the start) is passed through in its place.
        runtime: a runtime, a config such as ``{"kind": "server", "base_url": ...}``, a chat model of a framework whose
            integration is imported (:func:`as_runtime`), or None for the embedded one.
        profile: a profile or its name; the runtime's own where left out.
        concurrency: how many calls run at the same time; the runtime's own bound where left out.
        on_result: called with ``(index, result or error)`` as each call ends. If an in-process runtime has a call with
            over 20,000 characters, that call runs in a thread of its own, and ``on_result`` is called there.
        keep: False returns an empty list, so that memory does not grow with the number of calls.
        row_timeout: seconds that a call may take; after them its result is a :class:`RequestTimeout`. In process the
            time of a short call is checked between two batches of requests.
        progress: True writes on standard error how many calls have ended; a function is called with that number and
            the number of all calls, None where it is not known.

    Returns:
        One result or :class:`IntrinsicsError` per call, in the order of the calls. If a call
        fails, the results of the others are still returned.
    """
    engine = as_runtime(runtime)
    _check_bounds(concurrency, row_timeout)
    on_result = counting(progress, calls, on_result)
    if not engine.blocking and not engine.threaded:
        return engine.portal(
            arun_many(calls, engine, profile=profile, concurrency=concurrency, on_result=on_result, keep=keep,
                      row_timeout=row_timeout)
        )  # fmt: skip
    return _run_beside(_each(calls), engine, engine.profile_of(profile), concurrency or engine.concurrency, on_result,
                       keep, row_timeout)  # fmt: skip


async def arun_many(
    calls: Iterable[Call[T] | IntrinsicsError],
    runtime: RuntimeLike = None,
    *,
    profile: ProfileLike = None,
    concurrency: int | None = None,
    on_result: OnResult | None = None,
    keep: bool = True,
    row_timeout: float | None = None,
    progress: Progress = False,
) -> list[T | IntrinsicsError]:
    """Like :func:`run_many`, without ever blocking the event loop.

    Args:
        calls: consumed lazily; an error among them is passed through in its place.
        runtime: a runtime, a config such as ``{"kind": "server", "base_url": ...}``, a chat model of a framework whose
            integration is imported (:func:`as_runtime`), or None for the embedded one.
        profile: a profile or its name; the runtime's own where left out.
        concurrency: how many calls run at the same time; the runtime's own bound where left out.
        on_result: called with ``(index, result or error)`` as each call ends.
        keep: False returns an empty list, so that memory does not grow with the number of calls.
        row_timeout: seconds that a call may take; after them its result is a :class:`RequestTimeout`.
        progress: as :func:`run_many` takes it.

    Returns:
        One result or :class:`IntrinsicsError` for each call, in the order of the calls.
    """
    engine = as_runtime(runtime)
    _check_bounds(concurrency, row_timeout)
    on_result = counting(progress, calls, on_result)
    if engine.blocking:
        with given_up():
            return await asyncio.to_thread(
                run_many, calls, engine, profile=profile, concurrency=concurrency, on_result=on_result, keep=keep,
                row_timeout=row_timeout,
            )  # fmt: skip
    chosen, queue = engine.profile_of(profile), enumerate(_each(calls))
    results: dict[int, T | IntrinsicsError] = {}

    async def worker() -> None:
        for index, call in queue:
            result = await _guarded(call, chosen, engine, row_timeout)
            if keep:
                results[index] = result
            if on_result:
                on_result(index, result)

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(concurrency or engine.concurrency):
                group.create_task(worker())
    except BaseExceptionGroup as group_error:
        # What `calls` or `on_result` raised, as it was raised: no row's own error gets here.
        error: BaseException = group_error
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        raise error from None
    return [results[i] for i in range(len(results))]


def _checked(call: Call[T], called: str = "call") -> Call[T]:
    if not isinstance(call, Call):
        raise InvalidInput(
            f"{called} is not a call",
            expected="what an intrinsic function returns, e.g. run(answerability(messages, documents))",
            got=type(call).__name__,
        )
    return call


def _check_bounds(concurrency: object, row_timeout: object) -> None:
    if concurrency is not None and (not isinstance(concurrency, int) or concurrency < 1):
        raise InvalidInput(
            "concurrency is out of range", expected="a whole number of at least 1", got=repr(concurrency)
        )
    if row_timeout is not None and (not isinstance(row_timeout, int | float) or not row_timeout >= 0):
        raise InvalidInput(
            "row_timeout is out of range", expected="a number of seconds, 0 or more", got=repr(row_timeout)
        )


def _each(calls: Iterable[Call[T] | IntrinsicsError]) -> Iterator[Call[T] | IntrinsicsError]:
    """The calls, each checked as it is reached."""
    if isinstance(calls, Call) or not isinstance(calls, Iterable):
        raise InvalidInput("calls is not a list", expected="a list of calls; run takes one", got=type(calls).__name__)
    return (
        call if isinstance(call, IntrinsicsError) else _checked(call, f"calls[{index}]")
        for index, call in enumerate(calls)
    )


def _run_beside(
    calls: Iterable[Call[T] | IntrinsicsError],
    engine: Runtime,
    profile: Profile,
    concurrency: int,
    on_result: OnResult | None,
    keep: bool,
    seconds: float | None,
) -> list[T | IntrinsicsError]:
    """Short calls in waves, long ones beside them in a thread; each is told of by its place among all.

    Of a runtime that is ``threaded`` each call runs in a thread.
    """
    results: dict[int, T | IntrinsicsError] = {}
    places: dict[int, int] = {}  # of the short calls under way, by their place among the short ones
    telling = threading.Lock()

    def tell(index: int, result: Any) -> None:
        with telling:
            if keep:
                results[index] = result
            if on_result:
                on_result(index, result)

    def short() -> Iterator[Program[T] | IntrinsicsError]:
        begun = 0
        for index, call in enumerate(calls):
            if isinstance(call, Call) and (call.heavy or engine.threaded):
                aside.put(index, partial(_driven, call, profile, engine))
                continue
            places[begun], begun = index, begun + 1
            yield call if isinstance(call, IntrinsicsError) else _within(call.start(profile), seconds)

    aside = Aside(tell, seconds, concurrency if engine.threaded else 1)
    try:
        _drive(merge(short(), concurrency, lambda i, result: tell(places.pop(i), result), keep=False), engine)
        aside.finish()
    finally:
        aside.close()
    return [results[i] for i in sorted(results)]


def _driven(call: Call[T], profile: Profile, engine: Runtime) -> T:
    return _drive(call.start(profile), engine)


def _within(program: Program[T], seconds: float | None) -> Program[T]:
    """The same program, ended at its next request once the time is over."""
    if seconds is None:
        return program
    begun = time.monotonic()

    def look(requests: Sequence[Request], outcomes: Sequence[Outcome]) -> None:
        if time.monotonic() - begun > seconds:
            raise timed_out(seconds)

    return watched(program, look)


def _drive(program: Program[T], runtime: Runtime) -> T:
    requests, result = step(program, None)
    try:
        while requests is not None:
            cancellation.check()
            requests, result = step(program, answers(runtime, requests))
    finally:
        program.close()
    return result  # type: ignore[no-any-return]


async def _adrive(program: Program[T], runtime: Runtime, *, heavy: bool) -> T:
    # Loading the splitter, reading vectors and working on what was retrieved take long too.
    heavy = heavy or not sentences.ready()
    outcomes: Sequence[Outcome] | None = None
    try:
        while True:
            requests, result = (await _in_thread(program, outcomes)) if heavy else step(program, outcomes)
            if requests is None:
                return result  # type: ignore[no-any-return]
            heavy = heavy or any(isinstance(request, Embed | Retrieve) for request in requests)
            outcomes = await aanswers(runtime, requests)
    finally:
        program.close()


async def _in_thread(program: Program[Any], outcomes: Sequence[Outcome] | None) -> tuple[Sequence[Request] | None, Any]:
    """A step off the event loop. Cancelled, it waits for the thread: a generator at work cannot be closed."""
    work = asyncio.ensure_future(asyncio.to_thread(step, program, outcomes))
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        while not work.done():
            with suppress(asyncio.CancelledError):
                await asyncio.wait([work])
        if not work.cancelled():
            work.exception()  # seen: the cancellation counts
        raise


async def _guarded(call: Call[Any] | IntrinsicsError, profile: Profile, runtime: Runtime, seconds: float | None) -> Any:
    if isinstance(call, IntrinsicsError):
        return call
    try:
        async with asyncio.timeout(seconds) as limit:
            return await _adrive(call.start(profile), runtime, heavy=call.heavy)
    except Exception as error:
        return timed_out(seconds or 0) if limit.expired() else as_intrinsics_error(error)
