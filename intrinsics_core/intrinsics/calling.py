"""Types and checks that the intrinsic modules share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Literal, TypeVar

from intrinsics_core.intrinsics.table import TABLE, Record
from intrinsics_core.protocol.call import Call
from intrinsics_core.protocol.errors import InvalidInput
from intrinsics_core.protocol.profile import Profile
from intrinsics_core.protocol.requests import Program
from intrinsics_core.protocol.task import DocumentLike, MessageLike, Task, check

T = TypeVar("T")
Messages = Iterable[MessageLike]
Documents = Iterable[DocumentLike]
OnError = Literal["raise", "fallback"]

NOTHING_RETRIEVED = "nothing retrieved"
NO_TEXT = "the documents have no text"
NOTHING_SAID = "nothing said"


def single_ask(task: Task, profile: Profile) -> Program[Any]:
    """The program of an intrinsic that is one exchange."""
    return (yield from profile.ask(task.intrinsic, task))


def call(
    name: str,
    messages: Messages,
    documents: Documents = (),
    *,
    date: str | None = None,
    program: Callable[[Task, Profile], Program[T]] = single_ask,
    options: Mapping[str, Any] | None = None,
    on_error: str = "raise",
) -> Call[T]:
    """Check the input and the choice of ``on_error`` against the intrinsic's record; build the call.

    Args:
        name: name of the intrinsic in the table.
        messages: the conversation, not empty.
        documents: the documents, in the caller's order.
        date: date text for prompts that carry one; the day of the call where left out.
        program: the generator that asks the profile; by default one exchange.
        options: what a format may look at when it renders: :attr:`intrinsics_core.protocol.task.Task.options`.
        on_error: ``"raise"`` or the name of one of the intrinsic's fallbacks.

    Returns:
        The call, which :func:`~intrinsics_core.run` takes to its result.

    Raises:
        InvalidInput: the input or ``on_error`` is wrong.
    """
    record = TABLE[name]
    task = check(name, messages, documents, ends_with=record.ends_with, blank_answer=record.empty is not None,
                 date=date)  # fmt: skip
    if options:
        task = replace(task, options=dict(options))
    return Call(task, partial(_unless_empty, program, record), record.fallbacks.get(record.chosen(on_error)))


def wrong(intrinsic: str, what: str, expected: str, got: Any) -> InvalidInput:
    """The error for an option that an intrinsic does not take."""
    return InvalidInput(what, intrinsic=intrinsic, expected=expected, got=repr(got))


def with_question(made: Call[T], question: str) -> Call[T]:
    """The call, if the answer that it judges has a question.

    Raises:
        InvalidInput: the question is empty.
    """
    if not question:
        what = "messages has no user turn, so there is no question that is answered"
        raise InvalidInput(what, intrinsic=made.task.intrinsic, expected="a user turn before the answer")
    return made


def _unless_empty(
    program: Callable[[Task, Profile], Program[T]], record: Record, task: Task, profile: Profile
) -> Program[T]:
    """Nothing to judge is a result, not an error: a chain filters everything away, a model answers with a tool call."""
    if record.empty is not None and (why := nothing_to_judge(record, task)):
        empty: T = record.empty(task.split_by(profile.split_of(record.name)), why)
        return empty
    return (yield from program(task, profile))


def nothing_to_judge(record: Record, task: Task) -> str | None:
    """Why there is nothing to judge, None where there is something."""
    if task.last.role == "assistant" and not task.response.strip():
        return NOTHING_SAID
    why = nothing_to_judge_by(task) if record.needs_documents else None
    return None if record.of_each and task.documents else why


def nothing_to_judge_by(task: Task) -> str | None:
    """Why the documents support nothing, None where one of them has text. A picture is a document without text."""
    if not task.documents:
        return NOTHING_RETRIEVED
    return None if any(document.text.strip() for document in task.documents) else NO_TEXT
