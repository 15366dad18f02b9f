"""Which of two answers is judged, where a state holds one beside its conversation."""

from __future__ import annotations

from collections.abc import Sequence

from intrinsics_core.protocol.errors import InvalidInput


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
