"""Tool calls of earlier turns, as the frameworks' agents hold them: in messages of their own between the turns.

"Did you send it?" is answered by a call that was made for an earlier question.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

EarlierCalls = Mapping[int, Sequence[Mapping[str, Any]]]
"""Tool calls by the number of the user's turn that they were made for, from 0. Turns without text do not count."""


def asks(role: str, text: str) -> bool:
    """Whether a turn counts as one of the user's."""
    return role == "user" and bool(text.strip())


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
