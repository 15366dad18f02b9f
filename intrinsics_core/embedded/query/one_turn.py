"""User messages in a row with no answer between: "What does a ticket cost?", "For adults", "Please be quick"."""

from __future__ import annotations

import re
from collections.abc import Sequence

from intrinsics_core.embedded.query.introductions import counts_people
from intrinsics_core.embedded.query.lexicon import ADDED
from intrinsics_core.embedded.query.nothing_asked import asks_nothing
from intrinsics_core.embedded.query.salience import Turn
from intrinsics_core.embedded.scoring.claims import tells
from intrinsics_core.embedded.scoring.verbs import FINITE
from intrinsics_core.embedded.short_answers import is_question
from intrinsics_core.text.courtesy import BEGINS, NO, PRAISE, THANKS, YES, one_word
from intrinsics_core.text.words import word_set

# What is added to a question begins so: "For adults", "please be quick", "and with a dog".
_BEGINS = ADDED | one_word(BEGINS, YES, NO) | word_set("of about as if because per please only just not sorry")
_TELLS_MORE = re.compile(
    r"\A\W*(?:(?:i|we)\b|(?:i|we)['’]|(?:it|that|this|they|he|she)(?:['’]s|['’]re|\s(?:is|are|was|were|has|have|can|should"
    rf"|must)\b)|(?:my|our|the)\s(?:\w+\s){{1,3}}{FINITE})",
    re.IGNORECASE,
)
_WANTS = re.compile(
    r"\A\W*(?:i|we)(?:['’](?:d|m|re)|\s(?:would|am|are))?\s(?:like|want|need|look(?:ing)?\sfor|search(?:ing)?\sfor"
    r"|have\s(?:an?(?:other)?|one(?:\smore)?|some)\s(?:\w+\s)?questions?)\b",
    re.IGNORECASE,
)


_PARTS = re.compile(rf"[,.;:!]\s+|\A\W*(?:{BEGINS}|{PRAISE}|{THANKS}|{YES}|{NO}|sorry)\s+", re.IGNORECASE)
_LONGEST = 2_000  # characters of messages that are read as one


def as_one_turn(turns: Sequence[Turn]) -> tuple[Turn, ...]:
    """The turns with the user's last messages as one, from the newest that stands for itself on. What the user tells
    beside ("I love swimming") stays in a turn of its own before it.

    A question or a search in keywords stands for itself: the user may have asked another question, and the answer to
    the one before may be missing because nobody kept it.

    Args:
        turns: (role, text), the user's last turn last.
    """
    if len(turns) < 2:
        return tuple(turns)
    begin, length = len(turns) - 1, len(turns[-1][1])
    while begin > 0 and not _stands_for_itself(turns[begin][1]):
        before = begin - 1
        while before >= 0 and turns[before][0] != "user" and not _answers(turns[before]):
            before -= 1
        if before < 0 or _answers(turns[before]) or length + len(turns[before][1]) > _LONGEST:
            break
        begin, length = before, length + len(turns[before][1])
    if begin >= len(turns) - 1:
        return tuple(turns)
    first, *behind = turns[begin:]
    told = [turn for turn in behind if turn[0] != "user" or _TELLS_MORE.match(turn[1])]
    added = [text for role, text in behind if role == "user" and not _TELLS_MORE.match(text)]
    return (*turns[:begin], *told, ("user", "\n".join([first[1], *added])))


def _answers(turn: Turn) -> bool:
    return turn[0] == "assistant" and bool(turn[1].strip())


def _stands_for_itself(text: str) -> bool:
    if not any(map(str.isalpha, text)) or asks_nothing(text):
        return False
    if tells(text) or _WANTS.match(text) or any(map(is_question, [text, *filter(None, _PARTS.split(text))])):
        return True
    first = text.split()[0].casefold().strip(",.!")
    return not (first in _BEGINS or _TELLS_MORE.match(text) or counts_people(text.strip(" .,!")))
