"""Turns about the question before them: "Sorry?", "Really?", "Can you say that again?", "Thanks!".

What is answered behind such a turn answers the question that was asked last, if it answers anything.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from intrinsics_core.embedded.query.corrections import accepted_offer
from intrinsics_core.embedded.query.nothing_asked import asks_again, asks_nothing, is_courtesy
from intrinsics_core.embedded.query.salience import Turn

_BEGIN = r"(?:(?:ok|okay|oh|and|but|so|hm+|wait|sorry|well)[,.! ]++)?+"
_IT = r"(?:that|this|it|so|your answer)"
_UNHEARD = re.compile(
    rf"\A\W*{_BEGIN}(?:(?:sorry|pardon|excuse me|what|huh|hm+)\s?\?|(?:i beg your )?pardon(?: me)?|come again|say what"
    rf"|what (?:do|did) you (?:mean|say)(?: by that)?|how do you mean"
    rf"|i (?:do not|don['’]t|did not|didn['’]t) (?:understand|get|follow|catch)(?: (?:that|this|it|you|your answer))?"
    rf"|(?:(?:can|could|would|will) you (?:please )?)?(?:check|verify|confirm|clarify|look at|say|repeat|explain) {_IT}"
    r"(?:,? (?:once more|again|for me|please|to me)){0,2}"
    r")\W*\Z",
    re.IGNORECASE,
)
_DOUBTED = re.compile(
    rf"\A\W*{_BEGIN}(?:really|seriously|truly|honestly|(?:are )?you (?:really |quite |absolutely )?(?:sure|certain)"
    rf"(?: about (?:that|this|it))?|(?:is|was) {_IT} (?:really )?(?:right|true|correct|sure|certain|so)"
    rf"|how (?:do|can|did) you know(?: that| this)?"
    rf"|where (?:did you (?:find|get|read|see)|do you know) {_IT}(?: from)?|says who"
    rf"|where (?:is|was) {_IT} (?:written|said|stated|mentioned)|what(?: is|['’]s) your source(?: for {_IT})?"
    rf"|(?:i think )?{_IT}(?:['’]s| is| was| can['’]t be) (?:wrong|not (?:right|true|correct)|right|incorrect)"
    rf"|i (?:doubt|do not believe|don['’]t believe) {_IT}|no way)\W*\Z",
    re.IGNORECASE,
)
_FAVOUR = re.compile(rf"\A\W*{_BEGIN}(?:please,? )?(?:can|could|would|will) you\b", re.IGNORECASE)
_LONGEST = 100  # characters


def asked_before(turns: Sequence[Turn]) -> int | None:
    """The place of the user's turn that asks what the last turn is about; None where the last turn is about its own.

    Args:
        turns: (role, text), the user's last turn last.
    """
    last = turns[-1][1]
    if len(turns) < 2 or not (is_unheard(last) or _doubts_or_thanks(last)) or accepted_offer(turns):
        return None
    asked = (i for i in range(len(turns) - 2, -1, -1) if turns[i][0] == "user" and _asks(turns[i][1]))
    return next(asked, None)


def is_unheard(turn: str) -> bool:
    """Whether a turn asks for the last answer once more: "Sorry?", "Can you explain that?"."""
    heard = _UNHEARD.match(turn) if len(turn) <= _LONGEST else None
    return asks_again(turn) or heard is not None


def is_answered_by_yes(turn: str) -> bool:
    """Whether a yes behind a turn about the question before answers that turn: behind thanks, a doubt or a favour."""
    return _doubts_or_thanks(turn) or (_FAVOUR.match(turn) is not None and is_unheard(turn))


def _doubts_or_thanks(turn: str) -> bool:
    return len(turn) <= _LONGEST and bool(_DOUBTED.match(turn) or (is_courtesy(turn) and asks_nothing(turn)))


def _asks(turn: str) -> bool:
    return any(map(str.isalpha, turn)) and not (asks_nothing(turn) or is_unheard(turn) or _doubts_or_thanks(turn))
