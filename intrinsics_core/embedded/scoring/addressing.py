"""Names by which an answer addresses its user: "A day ticket costs 6 euros, Ms Brink." tells nothing of Ms Brink.

A name is the user's where the user gives it ("This is Ada Brink"), where an earlier turn of the assistant greets with
it ("Good morning, Ms Brink!"), or where the system's turn says whose it is. Another name that is set off by commas may
be of who did something ("... by the architect, Tom Hale"), so it is judged.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from intrinsics_core.protocol.task import Message

_TITLE = r"(?:mrs?|ms|miss|dr|prof|professor)\b\.?\s"
NAME = r"[^\W\d_]+(?:['’-][^\W\d_]+)*(?:\s[^\W\d_]+(?:['’-][^\W\d_]+)*){0,2}"
"""Up to three words that may be a name; those that are begin with capital letters (`in_capitals`)."""
_NAME = rf"(?:{_TITLE})?(?P<name>{NAME})"
_GREETING = r"(?:good\s(?:morning|afternoon|evening|day)|hello|hi|hey|dear|welcome(?:\sback)?|thanks|thank\syou)"
_USER = r"(?:user|customer|guest|client|caller|member|visitor)"
_GIVEN = {
    "user": re.compile(
        rf"\b(?:this\sis|(?:my\s)?name(?:\sis|['’]s|:)|i\sam|i['’]m|call\sme|(?:regards|wishes|sincerely|cheers),)\s+{_NAME}",
        re.IGNORECASE,
    ),
    "assistant": re.compile(rf"\A\W*(?:{_GREETING}|nice\sto\smeet\syou),?\s{_NAME}(?=\s?[,.!])", re.IGNORECASE),
    "system": re.compile(
        rf"\b(?:{_USER}(?:['’]s)?(?:\sname)?(?:\sis(?:\scalled|\snamed)?|:)"
        rf"|(?:talking|speaking|chatting)\s(?:to|with)(?:\sthe\s{_USER})?)\s+{_NAME}",
        re.IGNORECASE,
    ),
}
_SORRY = r"(?:i['’]m\s|i\sam\s)?(?:(?:so|very)\s)?sorry"
_AGREES = rf"(?:yes|no|sure|certainly|of\scourse|absolutely|{_SORRY}|well|unfortunately),?\s"
_IN_FRONT = re.compile(rf"\A(?P<mark>-\s)?(?:{_GREETING},?\s|(?P<said>{_AGREES}))?{_NAME},\s(?=\w)", re.IGNORECASE)
_BEHIND = re.compile(rf",\s{_NAME}(?=\s?[.!]?\s*\Z)", re.IGNORECASE)
# A name behind these says who is meant: "... built by the architect, Ada Brink", "ask the manager, Ada Brink".
_SAYS_WHO = re.compile(
    r"\b(?:(?:by|ask|call|contact|meet|see)(?:\s(?:the|our|your|an?))?|(?:is|are|was|were)\s(?:the|our|your|an?))"
    r"\s(?:[\w’'-]+\s)?[\w’'-]+\Z",
    re.IGNORECASE,
)
_LONGEST_TURN = 400  # characters of a turn in which somebody gives a name, and no pasted text


def names_of_the_user(turns: Iterable[Message], texts: Sequence[str]) -> frozenset[str]:
    """The words of the names that earlier turns give the user. Those that stand in a document are left out.

    Args:
        turns: those before the answer.
        texts: the documents' texts and titles.
    """
    given = {
        word
        for turn in turns
        if turn.role in _GIVEN and (turn.role == "system" or len(turn.content) <= _LONGEST_TURN)
        for found in _GIVEN[turn.role].finditer(turn.content)
        for word in in_capitals(found["name"])
    }
    return frozenset(word for word in given if not any(word in text for text in texts))


def in_capitals(name: str) -> list[str]:
    """The words of a name, up to the first that does not begin with a capital letter: "Tom and I" is "Tom"."""
    words = name.split()
    end = next((i for i, word in enumerate(words) if not word[0].isupper()), len(words))
    return words[:end]


def unaddressed(sentence: str, names: frozenset[str]) -> str:
    """A sentence without the name by which it addresses the user, and without the greeting before that.

    Args:
        sentence: one of an answer.
        names: the words of the user's names (`names_of_the_user`).
    """
    if not names or "," not in sentence:
        return sentence
    front = _IN_FRONT.match(sentence)
    if front and names.issuperset(front["name"].split()):
        rest = sentence[front.end() :]
        said = front["said"] or ""
        return f"{front['mark'] or ''}{said}{rest if said else rest[0].upper() + rest[1:]}"
    behind = _BEHIND.search(sentence)
    if behind and names.issuperset(behind["name"].split()) and not _SAYS_WHO.search(sentence[: behind.start()]):
        return sentence[: behind.start()] + sentence[behind.end() :]
    return sentence
