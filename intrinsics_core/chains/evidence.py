"""Tool results that only repeat their call: "Updated todo list to [...]", "Successfully transferred to writer".

Such a tool keeps a record for the agent, or hands the conversation over. Its result tells nothing that an answer could
rest on. The result of a lookup does, even where it repeats words of its call ("Monday: open"), and so may that of an
action in the world ("Order 7 was shipped").
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from intrinsics_core.text.words import word_set

_WORD = re.compile(r"[^\W_]+")
_CASE = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_LONGEST = 20_000  # characters of a result that is read


def only_acknowledges(name: str, arguments: Any, result: str) -> bool:
    """Whether a tool's result says nothing beside its call but that a record was kept or the talk was handed over.

    Args:
        name: the tool's.
        arguments: what it was called with.
        result: what it said.
    """
    called = _words(name)
    if len(result) > _LONGEST or called.isdisjoint(_ACTS) or not called.isdisjoint(_LOOKS_UP):
        return False
    said = _singular(_words(result))
    return not said.isdisjoint(_DONE) and said <= _DONE | _AROUND | _singular(called | _words(_as_text(arguments)))


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(_CASE.sub(" ", text).casefold()))


def _singular(words: frozenset[str]) -> frozenset[str]:
    """A tool ``write_todos`` updates a "todo list"."""
    return frozenset(word.removesuffix("s") for word in words)


def _as_text(arguments: Any) -> str:
    """The names and values of a call's arguments."""
    if isinstance(arguments, Mapping):
        return " ".join(f"{name} {_as_text(value)}" for name, value in arguments.items())
    if isinstance(arguments, list | tuple):
        return " ".join(map(_as_text, arguments))
    return str(arguments)


_ACTS = word_set(
    "add assign delegate escalate hand handoff handover keep log memorize memory note plan record reflect reflection"
    " remember route save set store switch think todo todos transfer update write"
)
_LOOKS_UP = word_set(
    "ask calculate check compute describe fetch find get history is list load lookup query read retrieve search show"
    " status track validate verify view"
)
_DONE = word_set(
    "updated saved stored recorded noted logged remembered memorized transferred transferring handed delegated"
    " delegating switched switching routed routing escalated assigned"
)
_AROUND = _singular(
    word_set(
        "a agent an and as assistant back been by control conversation entry for from has have i is it item list"
        " memory message my new note now of off ok on over plan reflection success successfully task that the this"
        " thought to todo user was with you your"
    )
)
