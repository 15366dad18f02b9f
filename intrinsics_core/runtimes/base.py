"""What a runtime is: the only place with I/O. A subclass writes one of ``handle`` and ``ahandle``, never both.

- :class:`BlockingRuntime`: works in the calling thread (an in-process model). Asynchronous callers wait in a thread.
- :class:`AsyncRuntime`: talks over sockets. Synchronous callers wait for one background event loop, made once per
  process, so that connections are kept between calls and a loop that is already running does not matter.
"""

from __future__ import annotations

import asyncio
import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Coroutine, Mapping, Sequence
from functools import cache
from types import MappingProxyType, TracebackType
from typing import Any, ClassVar, Self, TypeVar

from intrinsics_core._support.cancellation import given_up, result_of
from intrinsics_core.calibration.loading import loaded
from intrinsics_core.profiles import as_profile
from intrinsics_core.protocol.errors import IntrinsicsError, UnsupportedIntrinsic, as_intrinsics_error
from intrinsics_core.protocol.profile import Profile
from intrinsics_core.protocol.requests import Answer, Generate, Outcome, Request, Retrieve

T = TypeVar("T")

_AGAIN = "calibrations to put to work again"


class Runtime(ABC):
    """Answers requests.

    Attributes:
        profile: the profile its requests are rendered with where the caller names none.
        blocking: whether its work is done in the calling thread.
        threaded: whether synchronous callers are served in threads of their own, each by :meth:`handle`, and never by
            an event loop that is not theirs: what it asks may belong to the caller's.
        concurrency: how many calls :func:`run_many` keeps under way by default.
        calibrations: by intrinsic, what was fitted on the caller's own data: applied to what any profile says here.
        technologies: the kinds of adapters it can load; chooses where a place has several of one intrinsic.
    """

    profile: Profile
    blocking: ClassVar[bool]
    threaded: ClassVar[bool] = False
    concurrency: int = 16
    calibrations: Mapping[str, Any] = MappingProxyType({})
    technologies: tuple[str, ...] = ("lora",)
    _calibrated: bool = False  # whether the profile has them; the embedded one puts its own to work by itself

    def profile_of(self, spec: Profile | str | None) -> Profile:
        """A profile from a profile, a name, or None (its own). Of a place with adapters it uses those that fit.

        Raises:
            InvalidInput: no profile has that name.
        """
        own, named = self.profile, getattr(self, "model", None)  # of a chat model's runtime that is an object
        at_hand = {"model": named if isinstance(named, str) else None, "technologies": self.technologies}
        found = own if spec is None else as_profile(spec, own, **at_hand)
        other = found is not own and self._calibrated
        return found.with_calibrations(self.calibrations) if other else found

    def calibrate_by(self, calibrations: Mapping[str, Any]) -> Self:
        """Put calibrations to work, by intrinsic: what :func:`intrinsics_core.calibrate` fitted, its JSON object, or
        the path of its file. For runtimes made in Python, a chat model's too; configs have ``"calibrations"``.

        Raises:
            InvalidInput: an intrinsic has none, or a calibration cannot be read; the message names it.
        """
        self.calibrations = {**self.calibrations, **loaded(calibrations)}
        self.profile, self._calibrated = self.profile.with_calibrations(self.calibrations), True
        return self

    def __reduce_ex__(self, protocol: Any) -> Any:
        # What makes a runtime anew elsewhere knows its arguments alone.
        made = super().__reduce_ex__(protocol)
        return (*made, {_AGAIN: dict(self.calibrations)}) if self._calibrated and len(made) == 2 else made

    def __setstate__(self, state: dict[str, Any]) -> None:
        if _AGAIN in state:
            self.calibrate_by(state[_AGAIN])
        else:
            self.__dict__.update(state)

    @abstractmethod
    def handle(self, requests: Sequence[Request]) -> list[Outcome]:
        """One outcome per request, in order. Errors of single requests are values in the list, not raised."""

    @abstractmethod
    async def ahandle(self, requests: Sequence[Request]) -> list[Outcome]:
        """Like :meth:`handle`, without blocking the event loop."""

    def portal(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on the background event loop and wait for it."""
        loop = _background_loop()
        if _running_loop() is loop:
            coroutine.close()
            raise RuntimeError(
                "a blocking call was made in a callback on the library's own event loop and would wait for itself: "
                "use arun or arun_many there"
            )
        future = asyncio.run_coroutine_threadsafe(coroutine, loop)
        try:
            return result_of(future)
        except BaseException:
            future.cancel()  # Ctrl-C in the waiting thread must stop the work too
            raise

    def warm_up(self) -> None:  # noqa: B027  (nothing to load is the common case)
        """Load now what the first request would load. Doing it twice does nothing."""

    async def awarm_up(self) -> None:
        await asyncio.to_thread(self.warm_up)

    def close(self) -> None:  # noqa: B027  (nothing to give back is the common case)
        """Release models and connections. The runtime may be used again; it then loads them again."""

    async def aclose(self) -> None:
        await asyncio.to_thread(self.close)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


class BlockingRuntime(Runtime):
    blocking = True

    async def ahandle(self, requests: Sequence[Request]) -> list[Outcome]:
        with given_up():
            return await asyncio.to_thread(self.handle, requests)


class AsyncRuntime(Runtime):
    blocking = False

    def handle(self, requests: Sequence[Request]) -> list[Outcome]:
        return self.portal(self.ahandle(requests))


def broken(error: Exception, requests: Sequence[Request]) -> list[Outcome]:
    """A runtime that breaks as a whole breaks every request, and no row silently: each gets an error of its own."""
    return [as_intrinsics_error(error, copied=True).named(request.intrinsic) for request in requests]


def answers(runtime: Runtime, requests: Sequence[Request]) -> list[Outcome]:
    """What a runtime answers, an error for each request where it breaks. Without requests it is not asked."""
    try:
        return runtime.handle(requests) if requests else []
    except Exception as error:
        return broken(error, requests)


async def aanswers(runtime: Runtime, requests: Sequence[Request]) -> list[Outcome]:
    """Like :func:`answers`, without blocking the event loop."""
    try:
        return await runtime.ahandle(requests) if requests else []
    except Exception as error:
        return broken(error, requests)


def unsupported(runtime: str, request: Request) -> IntrinsicsError:
    """The error for a kind of request that a runtime cannot answer."""
    why, expected = _UNSUPPORTED.get(
        type(request),
        (
            f"the {runtime} runtime cannot answer what the profile asks of it",
            "a profile made for this runtime (leave profile= out to get it)",
        ),
    )
    return UnsupportedIntrinsic(why.format(runtime=runtime), intrinsic=request.intrinsic, expected=expected)


_TOOLS = (
    "run(rag(messages), Tools(runtime, retrieve=..., generate=...)), with Tools from intrinsics_core.runtimes.tools"
)
_UNSUPPORTED = {
    Retrieve: ("the flow needs your retriever and your generator", _TOOLS),
    Answer: ("the flow needs your retriever and your generator", _TOOLS),
    Generate: (
        "the profile needs a language model, or an adapter, that the {runtime} runtime does not have",
        'another runtime, e.g. {"kind": "server", "base_url": ...}, or the runtime\'s own profile (leave profile= out)',
    ),
}


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


@cache
def _background_loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="rag-intrinsics", daemon=True).start()
    return loop


if hasattr(os, "register_at_fork"):
    # A forked child has the loop but not the thread that ran it: it makes its own.
    os.register_at_fork(after_in_child=_background_loop.cache_clear)
