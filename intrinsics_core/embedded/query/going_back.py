"""Turns about the question before them: "Sorry?", "Really?", "Can you say that again?", "Thanks!", and "I am 70." where
the assistant has asked the user's age.

What is answered behind such a turn answers the question that was asked last, if it answers anything.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from intrinsics_core.embedded.query.corrections import accepted_offer
from intrinsics_core.embedded.query.nothing_asked import asks_again, asks_nothing, is_courtesy
from intrinsics_core.embedded.query.remarks import introduces_somebody
from intrinsics_core.embedded.query.salience import Turn
from intrinsics_core.text.courtesy import BEGINS

_BEGIN = rf"(?:(?:{BEGINS}|wait|sorry|no(?! way))[,.! ]++)?+"
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
    r"|you(?:['’]re| are| must be) (?:wrong|mistaken)"
    rf"|i (?:doubt|do not believe|don['’]t believe) {_IT}|no way)\W*\Z",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"[^.!?]++[.!?]*+")
# What the assistant asks about the talk: "How can I help?", "What is your name?", "Anything else?".
_POLITE_QUESTION = re.compile(
    r"\b(?:help|assist|do for you|your (?:\w+ )?name|call you|anything else|something else|how are you|and you"
    r"|like to know|brings you|(?:talking|speaking) (?:to|with)|another question|(?:other|more|further) questions?"
    r"|is (?:that|this) (?:clear|all|ok(?:ay)?))\b",
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
    if len(turns) < 2 or accepted_offer(turns):
        return None
    if not (is_unheard(last) or _doubts_or_thanks(last) or _answers_the_assistant(turns)):
        return None
    earlier = range(len(turns) - 2, -1, -1)
    return next((i for i in earlier if turns[i][0] == "user" and _is_about_its_own_question(turns[i][1])), None)


def asks_nothing_of_documents(turns: Sequence[Turn]) -> bool:
    """Whether the last turn surely asks nothing of the documents: "Thanks!", "Can you repeat that?". A doubt ("That's
    wrong.") or an answer to the assistant ("I am 70.") is about the question before it, if there is one.
    """
    last = turns[-1][1]
    if not asks_nothing(last) or accepted_offer(turns):
        return False
    of_the_talk = (is_courtesy(last) or asks_again(last)) and not _answers_the_assistant(turns)
    return of_the_talk or asked_before(turns) is None


def is_left_as_it_is(turns: Sequence[Turn]) -> bool:
    """Whether the last turn is not to be rewritten: it asks nothing, or is courtesy with a remark ("Thanks, that was
    it."), which is less sure. Where that is wrong, a question is only left as it stands.
    """
    return is_courtesy(turns[-1][1]) or asks_nothing_of_documents(turns)


def is_unheard(turn: str) -> bool:
    """Whether a turn asks for the last answer once more: "Sorry?", "Can you explain that?"."""
    heard = _UNHEARD.match(turn) if len(turn) <= _LONGEST else None
    return asks_again(turn) or heard is not None


def is_answered_by_yes(turn: str) -> bool:
    """Whether a yes behind a turn about the question before answers that turn: behind thanks, a doubt or a favour."""
    return _doubts_or_thanks(turn) or (_FAVOUR.match(turn) is not None and is_unheard(turn))


def _doubts_or_thanks(turn: str) -> bool:
    return len(turn) <= _LONGEST and bool(_DOUBTED.match(turn) or (is_courtesy(turn) and asks_nothing(turn)))


def _answers_the_assistant(turns: Sequence[Turn]) -> bool:
    """Whether the user says who they are because the assistant asked: "How old are you?", "I am 70."."""
    role, said = turns[-2] if len(turns) > 1 else ("", "")
    if role != "assistant" or not introduces_somebody(turns[-1][1]):
        return False
    asking = [sentence[0] for sentence in _SENTENCE.finditer(said) if "?" in sentence[0]]
    return any(not _POLITE_QUESTION.search(sentence) for sentence in asking)


def _is_about_its_own_question(turn: str) -> bool:
    return any(map(str.isalpha, turn)) and not (asks_nothing(turn) or is_unheard(turn) or _doubts_or_thanks(turn))
