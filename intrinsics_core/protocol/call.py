"""A call and its program: one intrinsic on one checked task, and many programs advanced as one. No I/O in here."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, Generic, Protocol, TypeVar

from intrinsics_core.protocol.errors import IntrinsicsError, InvalidInput, as_intrinsics_error
from intrinsics_core.protocol.requests import (
    Embed,
    Embedded,
    Generated,
    Outcome,
    Program,
    Read,
    Request,
    Score,
    Scored,
    Tag,
    Tagged,
    Usage,
)
from intrinsics_core.protocol.results import Result
from intrinsics_core.protocol.task import Split, Task
from intrinsics_core.protocol.telemetry import judging

T = TypeVar("T")
Asked = TypeVar("Asked")
Sent = TypeVar("Sent")
OnResult = Callable[[int, Any], None]
Unread = dict[tuple[int, str], dict[tuple[str, ...], int]]  # by wave and what was asked: tokens, by texts

_HEAVY = 20_000  # characters from which splitting and parsing would be felt by an event loop


class Serving(Protocol):
    """What a call needs of a profile (:class:`intrinsics_core.protocol.profile.Profile`), which is a room above."""

    def serving(self, intrinsic: str) -> Any:
        """The profile that serves an intrinsic: the same, or the one that it is routed to."""

    def split_of(self, intrinsic: str) -> Split:
        """The splitter of the sentences that this intrinsic is asked about."""

    def cut_of(self, task: Task) -> int:
        """How many earlier turns are read in part alone."""


@dataclass(frozen=True)
class Call(Generic[T]):
    """What the intrinsic functions return; give it to a driver: ``run(answerability(messages, documents))``.

    ``program(task, profile)`` is the plain generator. ``fallback(task, why)`` builds the degraded result where the
    caller chose one. A ``composite`` is made of other calls, each of which finds its own profile.
    """

    task: Task
    program: Callable[[Task, Any], Program[T]]
    fallback: Callable[[Task, str], T] | None = None
    composite: bool = False

    @property
    def heavy(self) -> bool:
        """Whether advancing it takes long enough to be kept off an event loop."""
        return sum(map(len, self.task.texts)) > _HEAVY

    def start(self, profile: Serving) -> Program[T]:
        """The generator of this call.

        Raises (while it is driven):
            IntrinsicsError: named after the intrinsic; with a fallback only what is the caller's to mend
                (:class:`InvalidInput`).
        """
        with judging(self.task.intrinsic) as found:
            value = yield from self._settled(profile)
            found.append(value)
        return value

    def _settled(self, profile: Serving) -> Program[T]:
        """The result with what it cost, the fallback's where the program failed and one was chosen."""
        spent: list[Usage | Read] = []
        unread: Unread = {}
        own = profile if self.composite else profile.serving(self.task.intrinsic)
        try:
            value = yield from _metered(self.program(self.task, own), spent, unread)
        except IntrinsicsError as error:
            error.named(self.task.intrinsic)
            if self.fallback is None or isinstance(error, InvalidInput):
                raise
            # Split as the verdict would have been: a fallback's sentences are those that a success has.
            task = self.task.split_by(own.split_of(self.task.intrinsic))
            value = self.fallback(task, f"{type(error).__name__}: {error}")
        if not isinstance(value, Result):
            return value
        usage = sum((each for each in spent if isinstance(each, Usage)), Usage())
        share = sum((each for each in spent if isinstance(each, Read)), Read()).share
        update: dict[str, Any] = {"usage": usage} if usage.requests else {}
        if value.read is None and value.degraded is None and share is not None:
            update["read"] = share
        if unread:  # a document read as a whole and by sentence, or for each of many claims, is told of once
            update["unread"] = max(sum(reading.values()) for reading in unread.values())
        judged = value.degraded is None and value.reason is None and not self.composite
        if judged and (cut := own.cut_of(self.task)):
            update["cut"] = value.cut + cut
        return value.model_copy(update=update) if update else value


def _metered(program: Program[T], spent: list[Usage | Read], unread: Unread) -> Program[T]:
    """The same program; what its replies cost and read is noted, also if it fails, and what they left unread."""
    waves = count(1)

    def note(requests: Sequence[Request], outcomes: Sequence[Outcome]) -> None:
        wave = next(waves)
        for request, outcome in zip(requests, outcomes, strict=True):
            if isinstance(outcome, Generated):
                spent.append(outcome.usage)
            elif isinstance(outcome, Scored | Tagged):
                spent.append(outcome.read)
            if isinstance(outcome, Embedded | Scored | Tagged) and outcome.unread:
                asked, texts = _reading(request)
                unread.setdefault((wave, asked), {})[texts] = outcome.unread

    return watched(program, note)


def _reading(request: Request) -> tuple[str, tuple[str, ...]]:
    """What is asked of texts, and the texts, each once."""
    if isinstance(request, Embed):
        return request.kind, request.texts
    if isinstance(request, Score):
        return request.task, tuple(dict.fromkeys(request.sources))
    return "", tuple(dict.fromkeys(first for first, _ in request.pairs)) if isinstance(request, Tag) else ()


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

    Args:
        programs: the programs; an error among them is passed through in its place.
        width: how many programs run at the same time, at least one.
        on_result: called with ``(index, result or error)`` as each program ends.
        keep: False returns an empty list.

    Returns:
        One result or error for each program, in order.
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


def through(program: Program[T], ask: Callable[[Sequence[Request]], Program[Sequence[Outcome]]]) -> Program[T]:
    """The same program; what it asks goes through ``ask``, which asks in its place and gives the outcomes."""
    requests, result = step(program, None)
    try:
        while requests is not None:
            outcomes = yield from ask(requests)
            requests, result = step(program, outcomes)
    finally:
        program.close()
    value: T = result
    return value


def watched(program: Program[T], seen: Callable[[Sequence[Request], Sequence[Outcome]], None]) -> Program[T]:
    """The same program; ``seen`` is told what it asks and what it is sent."""

    def ask(requests: Sequence[Request]) -> Program[Sequence[Outcome]]:
        outcomes = yield requests
        seen(requests, outcomes)
        return outcomes

    return through(program, ask)


def asked_once(program: Program[T]) -> Program[T]:
    """The same program; of equal requests of one wave that a model must answer alike, only the first is asked.

    Vectors, scores and tags of the same texts are the same for all that asked; what a language model writes is not.
    """

    def ask(requests: Sequence[Request]) -> Program[Sequence[Outcome]]:
        places: dict[Any, int] = {}
        first = [
            places.setdefault(request if isinstance(request, Embed | Score | Tag) else ("", i), i)
            for i, request in enumerate(requests)
        ]
        asked = sorted(set(first))
        answered = dict(zip(asked, (yield [requests[i] for i in asked]), strict=True))
        return [answered[i] for i in first]

    return through(program, ask)


def _raising(error: IntrinsicsError) -> Program[Any]:
    yield from ()  # makes this a program
    raise error


def step(program: Generator[Asked, Sent, T], sent: Sent | None) -> tuple[Asked | None, Any]:
    """(what is asked next, None), or (None, result). StopIteration itself cannot cross threads or coroutines."""
    try:
        # None starts a generator; the type of `send` has no word for that.
        return program.send(sent), None  # type: ignore[arg-type]
    except StopIteration as stop:
        return None, stop.value


def settled(program: Generator[Asked, Sent, T], sent: Sent | None) -> tuple[Asked | None, Any]:
    """Like :func:`step`, an exception becoming a result: in a batch it is one row's own."""
    try:
        return step(program, sent)
    except Exception as error:
        return None, as_intrinsics_error(error)
