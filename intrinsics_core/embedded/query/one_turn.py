"""User messages in a row with no answer between: "What does a ticket cost?", "For adults", "Please be quick"."""

from __future__ import annotations

from collections.abc import Sequence

from intrinsics_core.embedded.query.nothing_asked import asks_nothing
from intrinsics_core.embedded.query.salience import Turn
from intrinsics_core.embedded.scoring.claims import tells
from intrinsics_core.embedded.scoring.short_answers import is_question


def as_one_turn(turns: Sequence[Turn]) -> tuple[Turn, ...]:
    """The turns with the user's last messages as one, from the newest that asks on.

    A message that asks stands for itself: the user may have asked another question, and the answer to the one before
    may be missing because nobody kept it.

    Args:
        turns: (role, text), the user's last turn last.
    """
    begin = len(turns) - 1
    while begin > 0 and not _asks(turns[begin][1]):
        before = begin - 1
        while before >= 0 and turns[before][0] != "user" and not _answers(turns[before]):
            before -= 1
        if before < 0 or _answers(turns[before]):
            break
        begin = before
    if begin >= len(turns) - 1:
        return tuple(turns)
    said = "\n".join(text for role, text in turns[begin:] if role == "user")
    others = [turn for turn in turns[begin:] if turn[0] != "user"]
    return (*turns[:begin], *others, ("user", said))


def _answers(turn: Turn) -> bool:
    return turn[0] == "assistant" and bool(turn[1].strip())


def _asks(text: str) -> bool:
    return any(map(str.isalpha, text)) and (is_question(text) or tells(text)) and not asks_nothing(text)
