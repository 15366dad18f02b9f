"""Types and checks that the intrinsic modules share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, TypeVar

from intrinsics_core.conversation import DocumentLike, MessageLike, Role, Task, check
from intrinsics_core.errors import InvalidInput
from intrinsics_core.profiles.base import Profile
from intrinsics_core.program import Call
from intrinsics_core.requests import Program

T = TypeVar("T")
Messages = Iterable[MessageLike]
Documents = Iterable[DocumentLike]
OnError = Literal["raise", "fallback"]


def single_ask(task: Task, profile: Profile) -> Program[Any]:
    """The program of an intrinsic that is one exchange."""
    return (yield from profile.ask(task.intrinsic, task))


def call(
    intrinsic: str,
    messages: Messages,
    documents: Documents = (),
    *,
    ends_with: Sequence[Role],
    needs_documents: bool = False,
    date: str | None = None,
    program: Callable[[Task, Profile], Program[T]] = single_ask,
    fallbacks: Mapping[str, Callable[[Task, str], T]] | None = None,
    on_error: str = "raise",
) -> Call[T]:
    """Check the input and the choice of ``on_error``; build the call.

    An intrinsic without a fallback takes ``on_error="fallback"`` too and then still raises: there is nothing honest
    to put in place of its verdict.
    """
    task = check(intrinsic, messages, documents, ends_with=ends_with, needs_documents=needs_documents, date=date)
    known = {"raise": None, "fallback": None, **(fallbacks or {})}
    if on_error not in known:
        raise InvalidInput("on_error is unknown", intrinsic=intrinsic, expected=f"one of {', '.join(known)}",
                           got=repr(on_error))  # fmt: skip
    return Call(task, program, known[on_error])
