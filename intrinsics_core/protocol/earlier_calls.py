"""Tool calls of earlier turns, as the frameworks' agents hold them: in messages of their own between the turns.

"Did you send it?" is answered by a call that was made for an earlier question.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any, TypeVar

TurnT = TypeVar("TurnT")
EarlierCalls = Mapping[int, Sequence[Mapping[str, Any]]]
"""Tool calls by the number of the user's turn that they were made for, from 0. Turns without text do not count."""


def asks(role: str, text: str) -> bool:
    """Whether a turn counts as one of the user's."""
    return role == "user" and bool(text.strip())


def by_question(
    turns: Sequence[TurnT], is_asked: Callable[[TurnT], bool], calls: Callable[[Sequence[TurnT]], list[dict[str, Any]]]
) -> dict[int, list[dict[str, Any]]]:
    """The tool calls before the last question, by the number of the question that they were made for.

    Args:
        turns: a framework's messages.
        is_asked: whether a turn counts as one of the user's (`asks`).
        calls: the calls in some turns that did not fail.
    """
    asked = [i for i, turn in enumerate(turns) if is_asked(turn)]
    found = {n: calls(turns[one:following]) for n, (one, following) in enumerate(pairwise(asked))}
    return {n: made for n, made in found.items() if made}


def with_earlier_calls(turns: Sequence[dict[str, Any]], earlier: EarlierCalls) -> list[dict[str, Any]]:
    """The turns, with the calls made for a question in the assistant's first turn behind it.

    Args:
        turns: as the core takes them (``role``, ``content``). The last one is left as it is.
        earlier: the calls.
    """
    found, asked, left = list(turns), -1, dict(earlier)
    for i, turn in enumerate(found[:-1]):
        asked += asks(turn["role"], turn["content"])
        if turn["role"] == "assistant" and asked in left:
            found[i] = turn | {"tool_calls": list(left.pop(asked))}
    return found
