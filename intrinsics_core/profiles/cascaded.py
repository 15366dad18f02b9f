"""Two profiles as one: a judge that is cheap is asked first, and another where the first is unsure.

Which of the two answers a request is in the request's class: `placed` makes it, and `place_of` reads it. A class of its
own, so that two equal requests to two judges are no equals.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from functools import cache
from typing import Any, Literal, TypeVar

from intrinsics_core.protocol.apply_calibration import Calibrations
from intrinsics_core.protocol.call import merge, through
from intrinsics_core.protocol.errors import IntrinsicsError, InvalidInput, UnsupportedIntrinsic, raised
from intrinsics_core.protocol.profile import Profile
from intrinsics_core.protocol.requests import Outcome, Program, Request
from intrinsics_core.protocol.results import FactCheck, Judgement
from intrinsics_core.protocol.task import Split, Task

T = TypeVar("T")
Place = Literal["first", "then"]

JUDGED = ("answerability", "context-relevance", "hallucination-detection")
"""Formats that the second judge is asked for, too. A fact check is asked of it as a whole, an audit by its parts."""

_UNSURE = (0.25, 0.75)  # of a fact check, which without a calibration does not tell whether it is unsure

_PARTS = {"fact-check": ("relevance", "entailment")}  # the formats that an intrinsic without one of its own asks for


@dataclass(frozen=True)
class Cascaded(Profile):
    """``first`` and ``then``. What only one of them serves is asked of that one."""

    first: Profile = field(default_factory=lambda: Profile("first", {}), repr=False)
    then: Profile = field(default_factory=lambda: Profile("then", {}), repr=False)

    def _of(self, name: str, intrinsic: str | None = None) -> tuple[Place, Profile]:
        """The judge that is asked first for a format, and where it is."""
        first, then = (_serving(judge, intrinsic or name) for judge in (self.first, self.then))
        return ("then", then) if name not in first and name in then else ("first", first)

    def owner(self, name: str) -> Profile | None:
        """The profile that is asked for a format first. An audit has none: it is asked for by its parts."""
        return None if name == "audit" else self._of(name)[1].owner(name)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self.owner(name) is not None

    @property
    def served(self) -> frozenset[str]:
        return self.first.served | self.then.served

    def split_of(self, intrinsic: str) -> Split:
        return self._of(intrinsic)[1].split_of(intrinsic)

    def cut_of(self, task: Task) -> int:
        return self._of(task.intrinsic)[1].cut_of(task)

    def note_of(self, name: str, task: Task) -> str | None:
        return self._of(name, task.intrinsic)[1].note_of(name, task)

    def write(self, name: str, task: Task, value: Any) -> str:
        return self._of(name, task.intrinsic)[1].write(name, task, value)

    def with_calibrations(self, calibrations: Calibrations) -> Profile:
        """Raises InvalidInput: a calibration was fitted to the scores of one judge."""
        raise InvalidInput("a cascade has two judges, and a calibration is for one", expected="it in first or in then")

    def ask(self, name: str, task: Task) -> Program[Any]:
        if name in JUDGED:
            return (yield from self.decided(name, lambda judge: judge.ask(name, task)))
        place, profile = self._of(name, task.intrinsic)
        return (yield from _sent(place, profile.ask(name, task)))

    def ask_many(self, name: str, tasks: Sequence[Task]) -> Program[list[Any]]:
        if name in JUDGED or not tasks:
            return (yield from merge((self.ask(name, task) for task in tasks), width=len(tasks)))
        place, profile = self._of(name, tasks[0].intrinsic)
        return (yield from _sent(place, profile.ask_many(name, tasks)))

    def ask_each(self, name: str, task: Task) -> Program[list[Any]]:
        place, profile = self._of(name, task.intrinsic)
        found = yield from _sent(place, profile.ask_each(name, task))
        if name not in JUDGED or place == "then":
            return found
        asked = [i for i, value in enumerate(found) if self._asks_again(name, value)]
        more: Sequence[Any] = ()
        if asked:
            more = yield from _sent("then", _serving(self.then, task.intrinsic).ask_each(name, task.only(*asked)))
        by_index = dict(zip(asked, more, strict=True))
        return [_of_both(value, by_index.get(i)) for i, value in enumerate(found)]

    def decided(self, name: str, program: Callable[[Profile], Program[T]]) -> Program[T]:
        (value,) = yield from merge([_sent("first", program(_serving(self.first, name)))], width=1)
        more = None
        if self._asks_again(name, value):
            (more,) = yield from merge([_sent("then", program(_serving(self.then, name)))], width=1)
        found: T = raised(_of_both(value, more))
        return found

    def _asks_again(self, name: str, value: Any) -> bool:
        """Whether the second judge is asked, too: the first is unsure, failed, or is degraded."""
        if not all(part in _serving(self.then, name) for part in _PARTS.get(name, (name,))):
            return False
        if isinstance(value, IntrinsicsError):
            return not isinstance(value, InvalidInput)
        if getattr(value, "degraded", None) or getattr(value, "failure", None):
            return True
        score = getattr(value, "probability", None) if name == "answerability" else value.score
        if score is None:
            return False
        if fitted := _serving(self.first, name).calibrations.get(name):
            return fitted.unsure(score)
        if isinstance(value, FactCheck):
            return bool(_UNSURE[0] <= score < _UNSURE[1])
        return bool(value.label == "partially relevant" if isinstance(value, Judgement) else value.unsure)


def _serving(profile: Profile, intrinsic: str) -> Profile:
    """The profile that serves an intrinsic; where none does, one that has no format."""
    try:
        return profile.serving(intrinsic)
    except UnsupportedIntrinsic:
        return Profile(profile.name, {})


def _of_both(value: Any, more: Any) -> Any:
    """One verdict of what the first judge said and the other, None where it was not asked."""
    if more is None:
        return value if isinstance(value, IntrinsicsError) else _by("first", value)
    if not isinstance(more, IntrinsicsError):
        return _by("then", more)
    if isinstance(value, IntrinsicsError):
        return more
    why = f"the second judge failed: {type(more).__name__}: {more.message}"
    told = "failure" if isinstance(value, Judgement) else "degraded"
    return _by("first", value).model_copy(update={told: "; ".join(filter(None, (getattr(value, told), why)))})


def _by(place: Place, value: Any) -> Any:
    """The value, and who decided; of a cascade in a cascade, the whole way: ``"then.first"``."""
    return value.model_copy(update={"by": ".".join(filter(None, (place, value.by)))})


def _sent(place: Place, program: Program[T]) -> Program[T]:
    """The same program, its requests placed."""

    def ask(requests: Sequence[Request]) -> Program[Sequence[Outcome]]:
        return (yield [placed(place, request) for request in requests])

    return through(program, ask)


@cache
def _placed_kind(kind: Any, place: Place) -> Any:
    return dataclass(frozen=True)(type(kind.__name__, (kind,), {"__slots__": (), "placed": (place, kind)}))


def placed(place: Place, request: Request) -> Request:
    """The same request, for one of the two."""
    kind: Any = type(request)
    return _as(_placed_kind(kind, place), request)


def place_of(request: Request) -> tuple[Place, Request]:
    """Whom a request is for, and the request as that one takes it. One that nobody placed is for the first."""
    found: tuple[Place, Any] = getattr(request, "placed", ("first", type(request)))
    return found[0], _as(found[1], request)


def _as(kind: Any, request: Request) -> Request:
    made: Request = kind(**{each.name: getattr(request, each.name) for each in fields(request)})
    return made


def cascaded(first: Profile, then: Profile) -> Profile:
    """The profile over two."""
    return Cascaded("cascade", {}, split=first.split, reranking=first.reranking, first=first, then=then,
                    made_by=(cascaded, (first, then)))  # fmt: skip
