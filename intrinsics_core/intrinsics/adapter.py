"""Any adapter that has an ``io.yaml``: query clarification, requirement check, context attribution, one of your own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from intrinsics_core.intrinsics.calling import Documents, Messages
from intrinsics_core.protocol.call import Call
from intrinsics_core.protocol.profile import Profile
from intrinsics_core.protocol.requests import Program
from intrinsics_core.protocol.task import Task, check


def adapter(
    name: str,
    messages: Messages,
    documents: Documents = (),
    *,
    arguments: Mapping[str, str] | None = None,
    as_json: bool = False,
    date: str | None = None,
) -> Call[Any]:
    """Ask an adapter by its name.

    Args:
        name: the intrinsic as the profile knows it, e.g. ``"requirement-check"``.
        messages: ends with a user or an assistant turn, as the adapter wants it.
        documents: any number, as the adapter wants it.
        arguments: texts that the adapter's instruction names, e.g. ``{"requirement": "Answer in one sentence."}``.
        as_json: for an intrinsic with a typed result, the JSON of its ``io.yaml`` instead.
        date: date text for prompts that carry one; the day of the call where left out.

    Returns:
        A call whose result is an :class:`~intrinsics_core.protocol.results.AdapterOutput`, or the typed result of a
        known intrinsic.

    Raises:
        InvalidInput: at once, where the input is wrong; when run, where an argument is missing or not wanted.
    """
    task = check(name, messages, documents, ends_with=("user", "assistant"), date=date)
    task = replace(task, arguments=dict(arguments or {}))
    return Call(task, partial(_program, name=f"io.yaml:{name}" if as_json else name))


def _program(task: Task, profile: Profile, *, name: str) -> Program[Any]:
    return (yield from profile.ask(name, task))
