"""What all routes share: the named runtimes, each with its line of calls, the limits, and the counters."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

from intrinsics_core import Call, IntrinsicsError, InvalidInput, Runtime, as_runtime
from intrinsics_core._support.redaction import hide, origins, secrets
from intrinsics_core.protocol.errors import as_intrinsics_error, raised
from intrinsics_core.protocol.names import unknown
from intrinsics_core.protocol.profile import Profile
from intrinsics_core.protocol.requests import Program, Request
from intrinsics_core.protocol.task import Task
from intrinsics_core.service.batching import Batcher
from intrinsics_core.service.limits import Limits
from intrinsics_core.service.metrics import Metrics
from intrinsics_core.service.problems import NotHere

T = TypeVar("T")
DEFAULT = "default"  # the name of a runtime that was given none


@dataclass
class Served:
    """One runtime of the service.

    Attributes:
        name: how requests name it.
        failure: why it could not be warmed up; None while all is well.
        warm: whether it has loaded what it needs.
    """

    name: str
    runtime: Runtime
    profile: Profile
    batcher: Batcher
    failure: IntrinsicsError | None = None
    warm: bool = False

    async def warm_up(self) -> None:
        """Load what the first request would wait for."""
        try:
            await self.runtime.awarm_up()
            self.warm, self.failure = True, None
        except Exception as error:  # reported by /ready, and to each request anew
            self.failure = as_intrinsics_error(error)


@dataclass
class Service:
    """The runtimes of a service by name, the first one for requests that name none."""

    runtimes: Mapping[str, Served]
    limits: Limits
    hidden: frozenset[str] = frozenset()
    metrics: Metrics = field(default_factory=Metrics)

    @property
    def default(self) -> Served:
        """The runtime of requests that name none."""
        return next(iter(self.runtimes.values()))

    def hide(self, text: str) -> str:
        """A text without the keys of the runtimes' configs, and without the hosts in them."""
        return hide(text, set(self.hidden))

    def pick(self, name: str | None) -> Served:
        """The runtime of that name, the default for None.

        Raises:
            NotHere: no runtime has it; the message has the nearest name.
        """
        if name is None:
            return self.default
        if (found := self.runtimes.get(name)) is not None:
            return found
        raise not_here("runtime", name, list(self.runtimes))

    async def ask(self, served: Served, call: Call[T]) -> T:
        """The result of a call on a runtime, together with what others ask.

        Raises:
            TooMuch: more than one request may ask for.
            IntrinsicsError: what the call ended in.
        """
        await self.bounded(call)
        value = await served.batcher.ask(call)
        self.metrics.judged(call.task.intrinsic, value)
        return value

    async def ask_once(self, served: Served, request: Request) -> Any:
        """The reply to one request, asked together with what others ask.

        Raises:
            IntrinsicsError: what the request ended in.
        """
        call = Call(Task(request.intrinsic, ()), partial(_once, request=request), composite=True)
        return await served.batcher.ask(call)

    async def bounded(self, call: Call[Any]) -> None:
        """Refuse a call on too much.

        Raises:
            TooMuch, ContextTooLong: more than one request may ask for.
        """
        await self.limits.check(call.task.texts, len(call.task.documents))

    async def begin(self) -> None:
        """Load the models, all at once, and let nobody wait for it."""
        await asyncio.gather(*(served.warm_up() for served in self.runtimes.values()))

    async def end(self) -> None:
        """Give back what the runtimes hold."""
        for served in self.runtimes.values():
            await served.batcher.close()
            await served.runtime.aclose()


def serving(runtimes: Any, limits: Limits) -> Service:
    """What a service is made of.

    Args:
        runtimes: by name a runtime, a config or None; or one of these alone, which is then called ``"default"``.

    Raises:
        InvalidInput: there is none, a name cannot be one, or a config is wrong.
    """
    named = runtimes if _is_named(runtimes) else {DEFAULT: runtimes}
    if not named:
        raise InvalidInput("no runtime is named", expected="at least one")
    made: dict[str, Served] = {}
    hidden: set[str] = set()
    for name, spec in named.items():
        if not name or not name.replace("-", "").replace("_", "").replace(".", "").isalnum():
            raise InvalidInput("a runtime's name may contain only letters, digits, dots and dashes", got=repr(name))
        runtime = as_runtime(spec)
        hidden |= secrets(spec) | origins(spec) if isinstance(spec, Mapping) else set()
        profile = runtime.profile_of(None)
        made[name] = Served(name, runtime, profile, Batcher(runtime, profile, waiting=limits.waiting))
    found = Service(made, limits, frozenset(hidden))
    for served in made.values():
        found.metrics.line(served.name, partial(_waiting, served))
    return found


def not_here(what: str, name: str, known: Sequence[str]) -> NotHere:
    """The error for a name that nothing here has."""
    error = unknown(f"{what} is unknown", name, known)
    return NotHere(error.message, expected=error.expected, got=error.got)


def _is_named(runtimes: Any) -> bool:
    """Whether it is runtimes by name: a config has a kind, which is a text."""
    return isinstance(runtimes, Mapping) and not isinstance(runtimes.get("kind"), str)


def _once(task: Task, profile: Profile, *, request: Request) -> Program[Any]:
    (outcome,) = yield [request]
    return raised(outcome)


def _waiting(served: Served) -> float:
    return served.batcher.waiting
