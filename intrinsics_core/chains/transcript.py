"""A framework's messages as the core's conversation: which calls belong to which question, which answer is judged.

Agents hold tool calls in messages of their own between the turns. "Did you send it?" is answered by a call that was
made for an earlier question.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any, TypeVar

from intrinsics_core.protocol.errors import InvalidInput

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

    Returns:
        The calls; a question without any is left out.
    """
    asked = [i for i, turn in enumerate(turns) if is_asked(turn)]
    found = {n: calls(turns[one:following]) for n, (one, following) in enumerate(pairwise(asked))}
    return {n: made for n, made in found.items() if made}


def with_earlier_calls(turns: Sequence[dict[str, Any]], earlier: EarlierCalls) -> list[dict[str, Any]]:
    """The turns, with the calls made for a question in the assistant's first turn behind it.

    Args:
        turns: as the core takes them (``role``, ``content``). The last one is left as it is.
        earlier: the calls.

    Returns:
        A new list; the turns that were given are left as they are.
    """
    found, asked, left = list(turns), -1, dict(earlier)
    for i, turn in enumerate(found[:-1]):
        asked += asks(turn["role"], turn["content"])
        if turn["role"] == "assistant" and asked in left:
            found[i] = turn | {"tool_calls": list(left.pop(asked))}
    return found


def judged_turn(turns: Sequence[tuple[str, str]], answer: str, intrinsic: str) -> int | None:
    """The turn that is judged in place of ``answer``, or None where ``answer`` itself is judged.

    A state often still holds the answer of the turn before. An ``answer`` that equals an earlier assistant turn is
    stale where the conversation has an assistant turn after the last user turn: that turn is judged.

    Args:
        turns: role and text of each turn; a turn that only calls tools is left empty.
        answer: the text of the answer that stands beside them.
        intrinsic: the name used in errors.

    Returns:
        The index of the turn, or None.

    Raises:
        InvalidInput: the conversation ends with another answer, and ``answer`` is no earlier turn.
    """
    if not turns or turns[-1][0] != "assistant" or not turns[-1][1].strip() or turns[-1][1] == answer:
        return None
    asked = max((i for i, (role, _) in enumerate(turns) if role == "user"), default=-1)
    if asked < 0:
        return None
    if any(role == "assistant" and text == answer for role, text in turns[:asked]):
        return len(turns) - 1
    raise InvalidInput(
        "the messages end with an answer that differs from 'answer'",
        intrinsic=intrinsic,
        expected="one answer: messages that end with it, without 'answer', or 'answer' and messages that end with the "
        "question",
    )
