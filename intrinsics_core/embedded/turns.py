"""What a user's turn asks of the documents: something, nothing, or what was asked before it.

A small fitted head reads each sentence of the turn, from its words alone (`training/small_talk`, which has the rates of
its kinds). A turn asks if one of its sentences does. A long turn asks, and so does one in a language that the head was
not fitted on.

    asks     "When is the lido open?", "sauna prices", "My card was declined."
    adds     to a question: "For adults, please"
    nothing  thanks, greetings, remarks, who the user is
    bot      is about whoever answers: "Who are you?"; `program`: "Are you a robot?"; `human`: "Are you a person?"
    again    is about the last answer: "Sorry?", "Are you sure?", "In German, please."
    answers  what the assistant asked back; `accepts`: its offer ("Yes please")
    done     asks what the assistant has done: "Did you send it?"

What it is not: sure. A turn wrongly said to ask nothing passes the gate.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from intrinsics_core.embedded.heads import load_text_head, places
from intrinsics_core.text.layout import ends_in_question, laid_out
from intrinsics_core.text.scripts import unfitted_language

Turn = tuple[str, str]
"""(role, text)."""

_LONGEST = 160  # characters of a turn that may ask nothing
_MOST = 2_000  # characters of messages in a row that are read as one
KINDS = ("asks", "adds", "done", "again", "answers", "accepts", "program", "human", "bot", "nothing")
_OF_THE_BOT = ("bot", "program", "human")
"""Of several sentences of a turn the first of these kinds is the turn's."""


def kind_of(turns: Sequence[Turn]) -> str:
    """The kind of the last turn."""
    before = turns[-2][1] if len(turns) > 1 and turns[-2][0] == "assistant" else ""
    return _kind(turns[-1][1], question_at_the_end(before))


def question_at_the_end(said: str) -> str:
    """The last sentence of a turn, or the one before it, if that asks."""
    ends = [span.text for span in laid_out(said[-_MOST:])[-2:] if "?" in said]
    return next((text for text in reversed(ends) if ends_in_question(text)), "")


@lru_cache(maxsize=512)
def _kind(text: str, before: str = "") -> str:
    if len(text.strip()) > _LONGEST or unfitted_language(text):
        return "asks"
    sentences = [span.text for span in laid_out(text) if any(map(str.isalnum, span.text))]
    kinds = {load_text_head("turn").kind(places(" ".join(sentence.split()), before)) for sentence in sentences}
    return next((kind for kind in KINDS if kind in kinds), "nothing")


def asks(turn: str) -> bool:
    """Whether a turn asks for something; an empty one does not."""
    return bool(turn.strip()) and _kind(turn) not in ("nothing", *_OF_THE_BOT)


def asks_nothing(turns: Sequence[Turn]) -> bool:
    """Whether the last turn asks nothing of the documents. One that is about a question before it asks that."""
    kind = kind_of(turns)
    return kind in ("nothing", *_OF_THE_BOT) or (kind in ("again", "done") and asked_before(turns) is None)


def asked_before(turns: Sequence[Turn]) -> int | None:
    """The place of the user's turn that asks what the last turn is about; None where the last is about its own."""
    if kind_of(turns) not in ("again", "answers", "nothing"):
        return None
    earlier = (i for i in range(len(turns) - 2, -1, -1) if turns[i][0] == "user")
    return next((i for i in earlier if kind_of(turns[: i + 1]) in ("asks", "adds")), None)


def is_answered_itself(turns: Sequence[Turn]) -> bool:
    """Whether a yes or a no behind a turn about another one answers that turn ("Are you sure?"), and not what was asked
    before it ("Sorry?").
    """
    return kind_of(turns) == "nothing" or len(turns[-1][1].split()) > 1


def accepted_offer(turns: Sequence[Turn]) -> str:
    """The offer of the assistant that the last turn accepts ("Shall I look up the opening hours?"), or ""."""
    if len(turns) < 2 or turns[-2][0] != "assistant" or kind_of(turns) != "accepts":
        return ""
    return question_at_the_end(turns[-2][1])


def is_left_as_it_is(turns: Sequence[Turn]) -> bool:
    """Whether the last turn is not to be rewritten, for it asks nothing of its own."""
    return kind_of(turns) in ("nothing", "again", *_OF_THE_BOT)


def asks_what_was_done(turn: str) -> bool:
    """Whether a turn gives no task: it asks what was done, or nothing."""
    return _kind(turn) in ("done", "nothing", "again")


def as_one_turn(turns: Sequence[Turn]) -> tuple[Turn, ...]:
    """The turns with the user's last messages as one: the newest that asks, and what later ones add to it."""
    begin, length = len(turns) - 1, 0
    while begin > 0 and _leans(turns[begin][1]):
        before = begin - 1
        while before > 0 and turns[before][0] != "user" and not (turns[before][0] == "assistant" and turns[before][1]):
            before -= 1  # calls of tools and what they said
        length += len(turns[begin][1])
        if turns[before][0] != "user" or length + len(turns[before][1]) > _MOST:
            break
        begin = before
    if begin >= len(turns) - 1:
        return tuple(turns)
    first, *behind = turns[begin:]
    added = [text for role, text in behind if role == "user" and _kind(text) == "adds"]
    return (*turns[:begin], ("user", "\n".join([first[1], *added])))


def _leans(text: str) -> bool:
    """Whether a message says nothing without the one before it."""
    return (not ends_in_question(text) and _kind(text) != "asks") or _kind(text) in ("nothing", *_OF_THE_BOT)


def true_answer(turn: str) -> str | None:
    """What a program truly answers to a turn: "No." to "Are you a human?", "Yes." to "Are you a bot?"."""
    return {"human": "No.", "program": "Yes."}.get(_kind(turn))
