"""A call: one intrinsic on one checked task, ready to be started under any profile, as often as you like."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from intrinsics_core.conversation import Task
from intrinsics_core.errors import IntrinsicsError, InvalidInput
from intrinsics_core.exchange import Generated, Program, Usage
from intrinsics_core.profile import Profile
from intrinsics_core.results import Result

T = TypeVar("T")

_HEAVY = 20_000  # characters from which splitting and parsing would be felt by an event loop


@dataclass(frozen=True)
class Call(Generic[T]):
    """What the intrinsic functions return; give it to a driver: ``run(answerability(messages, documents))``.

    ``program(task, profile)`` is the plain generator. ``fallback(task, why)`` builds the degraded result where the
    caller chose one.
    """

    task: Task
    program: Callable[[Task, Profile], Program[T]]
    fallback: Callable[[Task, str], T] | None = None

    @property
    def heavy(self) -> bool:
        """Whether advancing it takes long enough to be kept off an event loop."""
        task = self.task
        return sum(len(m.content) for m in task.messages) + sum(len(d.text) for d in task.documents) > _HEAVY

    def start(self, profile: Profile) -> Program[T]:
        """The generator of this call.

        Raises (while it is driven):
            IntrinsicsError: named after the intrinsic; with a fallback only what is the caller's to mend
                (:class:`InvalidInput`).
        """
        spent: list[Usage] = []
        try:
            value = yield from _metered(self.program(self.task, profile), spent)
        except IntrinsicsError as error:
            error.named(self.task.intrinsic)
            if self.fallback is None or isinstance(error, InvalidInput):
                raise
            value = self.fallback(self.task, f"{type(error).__name__}: {error}")
        usage = sum(spent, Usage())
        if isinstance(value, Result) and usage.requests:
            return value.model_copy(update={"usage": usage})
        return value


def _metered(program: Program[T], spent: list[Usage]) -> Program[T]:
    """The same program; what its replies cost is noted, also if it fails in the end."""
    try:
        requests = next(program)
        while True:
            outcomes = yield requests
            spent += [outcome.usage for outcome in outcomes if isinstance(outcome, Generated)]
            requests = program.send(outcomes)
    except StopIteration as stop:
        value: T = stop.value
        return value
