"""Any adapter that has an ``io.yaml``: query clarification, requirement check, context attribution, one of your own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from intrinsics_core.intrinsics.calling import Documents, Messages
from intrinsics_core.intrinsics.table import Record
from intrinsics_core.protocol.call import Call
from intrinsics_core.protocol.errors import InvalidInput, UnsupportedIntrinsic
from intrinsics_core.protocol.names import find, nearest, plain
from intrinsics_core.protocol.profile import Profile
from intrinsics_core.protocol.requests import Program
from intrinsics_core.protocol.results import AdapterOutput
from intrinsics_core.protocol.task import Role, Task, check

PREFIX = "adapter:"  # before an adapter's name, where the command line takes the name of an intrinsic
_AS_JSON = "io.yaml:"  # before the name of a format whose value is the JSON of its file
_WITH_ADAPTERS = 'a profile with that adapter, e.g. profile="io.yaml:FOLDER" or "granite-4:PLACE"'
_ENDS_WITH: tuple[Role, ...] = ("user", "assistant")


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

        run(adapter("requirement-check", messages, arguments={"requirement": "Answer in one sentence."}),
            runtime, profile="io.yaml:FOLDER").value

    Args:
        name: the intrinsic as the profile knows it, e.g. ``"requirement-check"``; hyphens and underscores are the same.
        messages: ends with a user or an assistant turn, as the adapter wants it.
        documents: any number, as the adapter wants it.
        arguments: texts that the adapter's instruction names, e.g. ``{"requirement": "Answer in one sentence."}``.
        as_json: for an intrinsic with a typed result, the JSON of its ``io.yaml`` instead.
        date: date text for prompts that carry one; the day of the call where left out.

    Returns:
        A call whose result is an :class:`~intrinsics_core.protocol.results.AdapterOutput`, or the typed result of a
        known intrinsic.

    Raises:
        InvalidInput: by this function, if the input is invalid or an argument is no text; by `run`, if an argument is
            missing or unknown, with the nearest known name.
        UnsupportedIntrinsic: by `run`, if the profile has no adapter of that name; the message has the nearest name.

    Example:

        >>> from intrinsics_core import adapter, run
        >>> question = [{"role": "user", "content": "Who built the lighthouse?"}]
        >>> documents = ["Ada Brink built the lighthouse in 1911.", "Fog is common in May."]
        >>> run(adapter("answerability", question, documents)).label  # a known name has its typed result
        'answerable'
    """
    if not isinstance(name, str) or not name.strip():
        what, expected = "name is not the name of an adapter", 'text such as "requirement-check"'
        raise InvalidInput(what, expected=expected, got=repr(name))
    name = plain(name.strip())
    if not isinstance(as_json, bool):
        raise InvalidInput("as_json is not a boolean", intrinsic=name, expected="True or False", got=repr(as_json))
    task = check(name, messages, documents, ends_with=_ENDS_WITH, date=date)
    task = replace(task, arguments=_texts(name, arguments))
    return Call(task, partial(_program, name=f"{_AS_JSON}{name}" if as_json else name))


def record(name: str) -> Record:
    """What the command line knows of an adapter by its name: it is asked like an intrinsic of the table."""

    def asked(
        messages: Messages,
        documents: Documents = (),
        *,
        arguments: Mapping[str, str] | None = None,
        as_json: bool = False,
        on_error: str = "raise",
        date: str | None = None,
    ) -> Call[Any]:
        entry.chosen(on_error)
        return adapter(name, messages, documents, arguments=arguments, as_json=as_json, date=date)

    entry = Record(f"{PREFIX}{name}", asked, AdapterOutput, _ENDS_WITH, needs_model=True)
    return entry


def _texts(name: str, arguments: Any) -> dict[str, str]:
    if arguments is None:
        return {}
    if not isinstance(arguments, Mapping):
        raise InvalidInput("arguments is not a mapping", intrinsic=name, expected="{name: text}", got=repr(arguments))
    for key, text in arguments.items():
        if not isinstance(key, str) or not isinstance(text, str):
            raise InvalidInput(f"arguments[{key!r}] is not text", intrinsic=name, expected="a string", got=repr(text))
    return dict(arguments)


def _not_there(name: str, profile: Profile, intrinsic: str) -> UnsupportedIntrinsic:
    """The error for an adapter that the profile does not have, with the nearest of those that it has."""
    if not (as_json := name.startswith(_AS_JSON)) and (close := nearest(name, profile.served)):
        why = f"profile {profile.name!r} has no adapter of that name (did you mean {close!r}?)"
    else:
        why = f"profile {profile.name!r} has no {'io.yaml' if as_json else 'adapter'} of that name"
    return UnsupportedIntrinsic(
        why, intrinsic=intrinsic, expected=_WITH_ADAPTERS, got=repr(name.removeprefix(_AS_JSON))
    )


def _program(task: Task, profile: Profile, *, name: str) -> Program[Any]:
    found = find(name, profile.served)
    if found is None:
        raise _not_there(name, profile, task.intrinsic)
    return (yield from profile.ask(found, task))
