"""A profile: how one model family wants it said. Data plus two functions, render and parse, per intrinsic."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

from pydantic import ValidationError

from intrinsics_core.conversation import Task
from intrinsics_core.errors import IntrinsicsError, MalformedReply, UnsupportedIntrinsic
from intrinsics_core.exchange import Generate, Generated, Outcome, Program, Reply, Request

T = TypeVar("T")

_REPEAT_TEMPERATURE = 0.3  # enough to leave a malformed reply, not enough to leave the task


@dataclass(frozen=True)
class Format(Generic[T]):
    """How one intrinsic is asked and understood.

    ``render(task)`` gives the requests; ``parse(task, replies)`` gives the value or raises MalformedReply.
    """

    render: Callable[[Task], Sequence[Request]]
    parse: Callable[[Task, Sequence[Reply]], T]


@dataclass(frozen=True)
class Profile:
    """A named set of formats.

    ``retries`` counts further attempts after a malformed reply. ``models`` are the names that an adapter (by what a
    request calls it) or the base model (None) was published under, preferred first.
    """

    name: str
    formats: Mapping[str, Format[Any]] = field(repr=False)
    retries: int = 1
    models: Mapping[str | None, tuple[str, ...]] = field(default_factory=dict, repr=False)

    def __contains__(self, name: object) -> bool:
        return name in self.formats

    def ask(self, name: str, task: Task) -> Program[Any]:
        """Render, ask, parse; ask again where the reply was malformed.

        Raises:
            UnsupportedIntrinsic: this profile has no such format.
            MalformedReply: the last reply could not be understood either.
            IntrinsicsError: what the runtime reported.
        """
        (value,) = yield from self.ask_many(name, [task])
        if isinstance(value, IntrinsicsError):
            raise value
        return value

    def ask_many(self, name: str, tasks: Sequence[Task]) -> Program[list[Any]]:
        """Like :meth:`ask` for many tasks in one wave; an error takes the place of the one value it spoils."""
        try:
            chosen = self.formats[name]
        except KeyError:
            raise UnsupportedIntrinsic(
                f"profile {self.name!r} cannot serve it",
                intrinsic=tasks[0].intrinsic if tasks else name,
                expected=f"one of {', '.join(sorted(self.formats))}",
                got=name,
            ) from None
        values: list[Any] = [None] * len(tasks)
        open_tasks = list(range(len(tasks)))
        for attempt in range(self.retries + 1):
            batches = [self._addressed(chosen.render(tasks[i]), attempt) for i in open_tasks]
            wave = [request for batch in batches for request in batch]
            replies = iter((yield wave) if wave else ())
            malformed = []
            for i, batch in zip(open_tasks, batches, strict=True):
                outcomes = [next(replies) for _ in batch]
                values[i] = _understood(chosen, tasks[i], outcomes)
                if isinstance(values[i], MalformedReply):
                    malformed.append(i)
            open_tasks = malformed
            if not open_tasks:
                break
        return values

    def _addressed(self, requests: Sequence[Request], attempt: int) -> Sequence[Request]:
        if attempt == 0 and not self.models:
            return requests
        return [
            replace(_again(r, attempt), models=r.models or self.models.get(r.adapter, ()))
            if isinstance(r, Generate)
            else r
            for r in requests
        ]


def _again(request: Generate, attempt: int) -> Generate:
    """A repeat, drawn anew: greedy decoding would say the same malformed thing again.

    Runtimes take temperature and seed as they stand here; ``attempt`` only tells a repeat from what it repeats.
    """
    if attempt == 0:
        return request
    greedy = request.temperature <= 0
    return replace(
        request,
        attempt=attempt,
        temperature=_REPEAT_TEMPERATURE if greedy else request.temperature,
        # A sample without a seed differs anyway; a repeat of a greedy request stays reproducible.
        seed=(request.seed or 0) + attempt if greedy or request.seed is not None else None,
    )


def _understood(chosen: Format[Any], task: Task, outcomes: Sequence[Outcome]) -> Any:
    replies = []
    for outcome in outcomes:
        if isinstance(outcome, IntrinsicsError):
            return outcome.named(task.intrinsic)
        replies.append(outcome)
    try:
        return chosen.parse(task, replies)
    except IntrinsicsError as error:
        return error.named(task.intrinsic)
    except ValidationError as error:  # a value that the result cannot hold
        raw = "\n".join(reply.text for reply in replies if isinstance(reply, Generated))
        return MalformedReply(f"the reply does not fit the result: {error}", raw=raw).named(task.intrinsic)
