"""A profile: how one model family wants it said. Data plus two functions, render and parse, per intrinsic."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Generic, Self, TypeVar

from pydantic import ValidationError

from intrinsics_core.protocol.apply_calibration import Calibrations, recalibrated
from intrinsics_core.protocol.call import merge
from intrinsics_core.protocol.errors import (
    IntrinsicsError,
    InvalidInput,
    MalformedReply,
    UnsupportedIntrinsic,
    as_intrinsics_error,
)
from intrinsics_core.protocol.requests import Generate, Generated, Program, Reply, Request
from intrinsics_core.protocol.task import Split, Task
from intrinsics_core.text.sentences import punkt

T = TypeVar("T")

Leans = Callable[[str, str, str, Sequence[str]], bool]
"""Whether a sentence of an answer is judged with the next one: the sentence, the next one as far as it is known, what
was said before, and the titles of the documents.
"""

_REPEAT_TEMPERATURE = 0.3  # enough to leave a malformed reply, not enough to leave the task
_TOLD_AT_THE_LIMIT = "the reply ended at the token limit (the runtime's reasoning_tokens raises it)"
_SERVING = (
    'a runtime with a language model, e.g. {"kind": "server", "base_url": ...}, and a profile that serves it: '
    '"prompted" serves every intrinsic'
)


@dataclass(frozen=True)
class Format(Generic[T]):
    """How one intrinsic is asked and understood, in one wave.

    ``render(task)`` gives the requests; ``parse(task, replies)`` gives the value or raises MalformedReply.
    ``write(task, value)`` is the inverse of parse, for formats whose reply is text: a reply that parses to this value.
    Training data and fixtures are made by it. ``complete(task, value)`` asks for what a reply left out, where a format
    has it, and gives the completed value. ``each``: see :class:`MultiStepFormat`.
    """

    render: Callable[[Task], Sequence[Request]]
    parse: Callable[[Task, Sequence[Reply]], T]
    write: Callable[[Task, T], str] | None = None
    complete: Callable[[Task, T], Program[T]] | None = None
    each: Callable[[Task], Program[list[T]]] | None = None

    def ask(self, task: Task) -> Program[T]:
        """The one-wave case of a staged format: yields requests, is sent their replies, returns the value."""
        value = self.parse(task, (yield self.render(task)))  # type: ignore[arg-type]  # only replies are sent in
        return value if self.complete is None else (yield from self.complete(task, value))


@dataclass(frozen=True)
class MultiStepFormat(Generic[T]):
    """How one intrinsic is asked in several waves: find, then read.

    ``ask(task)`` is a generator that yields requests and is sent as many replies. Where a request ends in an error, the
    error is raised at that ``yield``: a format that does not catch it ends with it. It returns the value or raises
    MalformedReply.

    ``each(task)`` is a generator like it that asks about all documents together. It returns for each document the value
    that ``ask`` has for a task with that document alone. Without it the documents are asked about one by one.
    """

    ask: Callable[[Task], Program[T]]
    write: Callable[[Task, T], str] | None = None
    each: Callable[[Task], Program[list[T]]] | None = None

    @classmethod
    def of_each(cls, each: Callable[[Task], Program[list[T]]]) -> Self:
        """The format that asks about one document as about many."""

        def ask(task: Task) -> Program[T]:
            (value,) = yield from each(task)
            return value

        return cls(ask, each=each)


AnyFormat = Format[Any] | MultiStepFormat[Any]


@dataclass(frozen=True)
class Profile:
    """A named set of formats.

    ``retries`` counts further attempts after a malformed reply. ``models`` are the names that an adapter (by what a
    request calls it) or the base model (None) was published under, preferred first. ``split`` finds the sentences of
    responses and documents: a model must see them as it did in training. ``base`` serves what this profile lacks; the
    runtime then has to answer what both ask for. ``reranking`` is the mode of that intrinsic where the caller names
    none; left out, it follows from the formats. ``cut`` counts the earlier turns of a task that the formats read in
    part alone; left out, they read all of them. ``made_by`` is the function that makes this very profile, and its
    arguments: how it travels to another process. ``calibrations`` were fitted on somebody's own data, by intrinsic.
    ``note`` says why scores mean little on a task. ``leans`` tells which sentences of a stream say nothing
    without the next one, beside those that wait for it whoever judges (`running.leaning`).
    """

    name: str
    formats: Mapping[str, AnyFormat] = field(repr=False)
    retries: int = 1
    models: Mapping[str | None, tuple[str, ...]] = field(default_factory=dict, repr=False)
    split: Split = field(default=punkt, repr=False)
    base: Profile | None = None
    reranking: str | None = None
    cut: Callable[[Task], int] | None = field(default=None, repr=False)
    made_by: tuple[Callable[..., Profile], tuple[Any, ...]] | None = field(default=None, repr=False, compare=False)
    calibrations: Calibrations = field(default_factory=dict, repr=False)
    note: Callable[[Task], str | None] | None = field(default=None, repr=False)
    leans: Leans | None = field(default=None, repr=False)

    def __reduce__(self) -> tuple[Any, ...]:
        # Formats are closures, which do not pickle: another process makes the profile anew.
        if self.made_by is None:
            raise InvalidInput(f"profile {self.name!r} cannot be sent to another process", expected="its name, or a "
                               "profile whose made_by names the function that makes it and its arguments")  # fmt: skip
        return self.made_by

    def __contains__(self, name: object) -> bool:
        return self._with(name) is not None

    def serving(self, intrinsic: str) -> Profile:
        """The profile that serves an intrinsic: this one, unless a subclass routes."""
        return self

    def judge_of(self, intrinsic: str) -> Profile | None:
        """The profile that serves an intrinsic and has a format of that name; None where there is none."""
        try:
            serving = self.serving(intrinsic)
        except UnsupportedIntrinsic:
            return None
        return serving if intrinsic in serving else None

    def split_of(self, intrinsic: str) -> Split:
        """The splitter of the profile that has the format: this one, or the base that stands in for it."""
        return (self._with(intrinsic) or self).split

    def cut_of(self, task: Task) -> int:
        """How many earlier turns are read in part alone by the profile that has the format."""
        count = (self._with(task.intrinsic) or self).cut
        return count(task) if count else 0

    def note_of(self, name: str, task: Task) -> str | None:
        """Why the scores of a format mean little on this task, by the profile that has it; None where they do not."""
        note = (self._with(name) or self).note
        return note(task) if note else None

    @property
    def served(self) -> frozenset[str]:
        """The names of all formats: its own, and those of the bases that stand in for it."""
        return frozenset(self.formats) | (self.base.served if self.base else frozenset())

    def routes_apart(self, intrinsic: str) -> bool:
        """Whether a route names this very intrinsic: no composite then asks for it in other company."""
        return False

    def owner(self, name: str) -> Profile | None:
        """The profile that has a format: this one, or one of its bases; None where none has."""
        return self._with(name)

    def with_calibrations(self, calibrations: Calibrations) -> Profile:
        """The same, with these calibrations before those that it has; its bases, too."""
        base = self.base.with_calibrations(calibrations) if self.base else None
        made_by = (calibrated, (self, calibrations)) if self.made_by else None
        return replace(self, calibrations={**self.calibrations, **calibrations}, base=base, made_by=made_by)

    def ask(self, name: str, task: Task) -> Program[Any]:
        """Render, ask, parse; ask again where the reply was malformed.

        Raises:
            UnsupportedIntrinsic: this profile has no such format, nor has its base.
            MalformedReply: the last reply could not be understood either.
            IntrinsicsError: what the runtime reported.
        """
        owner = self._served(name, task.intrinsic)
        try:
            return (yield from owner._asked(name, task, owner.formats[name].ask))
        except Exception as error:
            raise as_intrinsics_error(error)  # noqa: B904  (the same error, or one that has it as its cause)

    def ask_many(self, name: str, tasks: Sequence[Task]) -> Program[list[Any]]:
        """Like :meth:`ask` for many tasks side by side; an error takes the place of the one value it spoils."""
        owner = self._served(name, tasks[0].intrinsic if tasks else name)
        asked = (owner._asked(name, task, owner.formats[name].ask) for task in tasks)
        return (yield from merge(asked, width=len(tasks)))

    def ask_each(self, name: str, task: Task) -> Program[list[Any]]:
        """Like :meth:`ask` for each document alone; an error takes the place of the one value it spoils.

        A format that can is asked about all of them together. Where that fails, each is asked about alone, so that one
        document that cannot be judged does not cost the others.
        """
        owner = self._served(name, task.intrinsic)
        if (each := owner.formats[name].each) and len(task.documents) > 1:
            found: list[Any] = yield from merge([owner._asked(name, task, each)], width=1)
            if not isinstance(found[0], IntrinsicsError):
                return list(found[0])
        return (yield from self.ask_many(name, [task.only(i) for i in range(len(task.documents))]))

    def decided(self, name: str, program: Callable[[Profile], Program[T]]) -> Program[T]:
        """What a program over the judge of an intrinsic gives. Where there are two judges, the verdict of one of them.

        Args:
            name: name of the intrinsic.
            program: what to ask of a judge.
        """
        return (yield from program(self))

    def write(self, name: str, task: Task, value: Any) -> str:
        """The reply that a well-behaved model would give for this value: what ``parse`` reads back.

        For training data and fixtures. What a reply has no place for is left out by the rules of
        :mod:`intrinsics_core.replies.writers`. Text is written as it is: where it spells a special token, a tokenizer
        must be told not to take it for one.

        Args:
            name: name of the intrinsic, such as ``"answerability"``.
            task: the checked input that the reply is for.
            value: the result that the reply states.

        Returns:
            The text of the reply.

        Raises:
            UnsupportedIntrinsic: no such format, or its replies are no text.
            InvalidInput: the reply cannot say this; names the field.
        """
        owner = self._with(name)
        write = owner.formats[name].write if owner else None
        if owner is None or write is None:
            why = "does not serve this intrinsic" if owner is None else "cannot write a reply for this intrinsic"
            raise UnsupportedIntrinsic(f"profile {self.name!r} {why}", intrinsic=task.intrinsic, got=name)
        try:
            return write(task.split_by(owner.split), value)
        except IntrinsicsError as error:
            raise error.named(task.intrinsic)  # noqa: B904  (the same error)

    def _served(self, name: str, intrinsic: str) -> Profile:
        """The profile that has a format. Raises UnsupportedIntrinsic where none has."""
        owner = self._with(name)
        if owner is None:
            part = "" if name == intrinsic else f" (it has no format {name!r})"
            raise UnsupportedIntrinsic(
                f"profile {self.name!r} does not serve this intrinsic{part}", intrinsic=intrinsic, expected=_SERVING
            )
        return owner

    def _with(self, name: object) -> Profile | None:
        if name in self.formats:
            return self
        return self.base._with(name) if self.base else None

    def _asked(self, name: str, task: Task, ask: Callable[[Task], Program[Any]]) -> Program[Any]:
        """One task to what ``ask`` makes of it, attempt by attempt."""
        task = task.split_by(self.split)
        malformed: MalformedReply | None = None
        for attempt in range(self.retries + 1):
            try:
                value = yield from self._attempt(ask(task), attempt, task.intrinsic)
                return recalibrated(name, value, self.calibrations) if self.calibrations else value
            except MalformedReply as error:
                malformed = error
                if attempt == self.retries:
                    raise
            except IntrinsicsError as error:
                if malformed is None:
                    raise
                raise malformed from error  # a repeat that could not be asked hides no reply

    def _attempt(self, program: Program[Any], attempt: int, intrinsic: str) -> Program[Any]:
        """One attempt: each request addressed, and the first error of a wave raised."""
        replies: list[Reply] = []
        resume: Callable[[], Sequence[Request]] = partial(next, program)
        try:
            while True:
                requests = resume()
                outcomes = (yield [self._addressed(r, attempt) for r in requests]) if requests else []
                replies += [outcome for outcome in outcomes if not isinstance(outcome, IntrinsicsError)]
                failed = next((outcome for outcome in outcomes if isinstance(outcome, IntrinsicsError)), None)
                resume = partial(program.throw, failed) if failed else partial(program.send, outcomes)
        except StopIteration as stop:
            return stop.value
        except IntrinsicsError as error:
            if isinstance(error, MalformedReply):
                if _cut_off(error, replies):
                    error.message = f"{_TOLD_AT_THE_LIMIT}: {error.message}"
                error.raw = _whole(error.raw, replies)
            raise error.named(intrinsic)  # noqa: B904  (the same error)
        except ValidationError as error:  # a value that the result cannot hold
            raw = "\n".join(reply.text for reply in replies if isinstance(reply, Generated))
            why = f"the reply does not fit the result: {error}"
            raise MalformedReply(why, raw=raw).named(intrinsic) from None
        finally:
            program.close()

    def _addressed(self, request: Request, attempt: int) -> Request:
        if not isinstance(request, Generate) or (attempt == 0 and not self.models):
            return request
        return replace(_again(request, attempt), models=request.models or self.models.get(request.adapter, ()))


def _cut_off(error: MalformedReply, replies: Sequence[Reply]) -> bool:
    """Whether the reply at fault ended at the token limit, which is then told, once."""
    texts = [r.text for r in replies if isinstance(r, Generated) and r.ended_at_limit]
    return not error.message.startswith(_TOLD_AT_THE_LIMIT) and any((error.raw or "") in text for text in texts)


def calibrated(profile: Profile, calibrations: Calibrations) -> Profile:
    """The same profile, what it says calibrated; its own function in this module, so that it can be made elsewhere."""
    return profile.with_calibrations(calibrations)


def _whole(raw: str | None, replies: Sequence[Reply]) -> str | None:
    """The reply as the model gave it, with the thoughts that a reader left out before it found the rest malformed."""
    texts = [reply.text for reply in replies if isinstance(reply, Generated)]
    return next((text for text in texts if raw is not None and raw in text), raw)


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
