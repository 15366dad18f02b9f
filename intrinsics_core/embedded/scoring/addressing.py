"""Names by which an answer addresses its user: "A day ticket costs 6 euros, Ms Brink." tells nothing of Ms Brink.

A name is the user's where the user gives it ("This is Ada Brink"), where an earlier turn of the assistant greets with
it ("Good morning, Ms Brink!"), or where the system's turn says whose it is. Another name that is set off by commas may
be of who did something ("... by the architect, Tom Hale"), so it is judged.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from intrinsics_core.embedded.query.lexicon import LANGUAGES, NATIONS, TIMES
from intrinsics_core.protocol.task import Message
from intrinsics_core.text.courtesy import BEGINS, CLOSING, GREETING, NO, SADLY, SIGNS, SURELY, THANKS, YES

_TITLE = r"(?:mrs?|ms|miss|dr|prof|professor)\b\.?\s"
NAME = r"[^\W\d_]+(?:['’-][^\W\d_]+)*(?:\s[^\W\d_]+(?:['’-][^\W\d_]+)*){0,2}"
"""Up to three words that may be a name; those that are begin with capital letters (`in_capitals`)."""
_NAME = rf"(?:{_TITLE})?(?P<name>{NAME})"
_GREETING = rf"(?:{GREETING}|dear|welcome(?:\sback)?|{THANKS})"
# "Best,\nTom" at the end of a turn. "Thanks, Mount Kerrin it is" may name anything.
_SIGNED = rf"(?:{SIGNS}),(?=\s{{1,9}}\w{{1,30}}(?:\s\w{{1,30}})?\W{{0,9}}\Z)"
_USER = r"(?:user|customer|guest|client|caller|member|visitor)"
_GIVEN = {
    "user": re.compile(
        r"\b(?:(?P<here>this\sis)|(?:my\s)?name(?:\sis|['’]s|:)|(?P<am>i\sam|i['’]m)|call\sme"
        rf"|{CLOSING},|{_SIGNED})\s+{_NAME}",
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
_AGREES = rf"(?:{YES}|{NO}|{SURELY}|{BEGINS}|{_SORRY}|{SADLY}),?\s"
_IN_FRONT = re.compile(rf"\A(?P<mark>-\s)?(?:{_GREETING},?\s|(?P<said>{_AGREES}))?{_NAME},\s(?=\w)", re.IGNORECASE)
_BEHIND = re.compile(rf",\s{_NAME}(?=\s?[.!]?\s*\Z)", re.IGNORECASE)
# A name behind these says who is meant: "... built by the architect, Ada Brink", "ask the manager, Ada Brink".
_SAYS_WHO = re.compile(
    r"\b(?:(?:by|ask|call|contact|meet|see)(?:\s(?:the|our|your|an?))?|(?:is|are|was|were)\s(?:the|our|your|an?))"
    r"\s(?:[\w’'-]+\s)?[\w’'-]+\Z",
    re.IGNORECASE,
)
# What may stand behind a name on its own, and no noun that it names: "This is Paris calling" may be about a town.
_NAME_ENDS = re.compile(r"\s*(?:[^\w\s]|\Z|\n|(?:and|speaking|here|again|from|with|i|we)\b)", re.IGNORECASE)
_NO_NAMES = LANGUAGES | NATIONS
_PARTS = re.compile(r"[,:;]\s")
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
        for word in _name_in(found)
    }
    return frozenset(word for word in given if not any(word in text for text in texts))


def _name_in(found: re.Match[str]) -> list[str]:
    """The words of the name that a turn gives; none where they say something else: "I am German", "This is Tuesday"."""
    words, given = in_capitals(found["name"]), found.groupdict()
    if given.get("here") and not _NAME_ENDS.match(found.string, found.start("name") + len(" ".join(words))):
        return []
    return [] if given.get("am") and words and words[0].casefold() in _NO_NAMES else words


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
    if front and names.issuperset(front["name"].split()) and not _begins_a_list(sentence[front.end() :]):
        rest = sentence[front.end() :]
        mark, said = front["mark"] or "", (front["said"] or "").rstrip(" ,")
        return f"{mark}{said}, {rest}" if said else f"{mark}{rest[0].upper()}{rest[1:]}"
    behind = _BEHIND.search(sentence)
    if behind and names.issuperset(behind["name"].split()):
        before = sentence[: behind.start()]
        if not (_SAYS_WHO.search(before) or _ends_a_list(before)):
            return before + sentence[behind.end() :]
    return sentence


def _ends_a_list(text: str) -> bool:
    """Whether a text may go on with one more name of a list: "... work: Ada, Ben", "It is run by Ada and Ben"."""
    *others, last = _PARTS.split(text)
    return bool(others and _is_name(last.split())) or _joins_names(last.split()[-3:])


def _begins_a_list(text: str) -> bool:
    """Whether a text goes on with names of a list: "Ben and Ada work on Monday."."""
    return _joins_names(text.split(maxsplit=3)[:3]) or (
        "," in text and _is_name(_PARTS.split(text, maxsplit=1)[0].split())
    )


def _joins_names(words: list[str]) -> bool:
    return len(words) == 3 and words[1] in ("and", "or", "&") and _is_name([words[0], words[2]])


def _is_name(words: list[str]) -> bool:
    """Whether some words all begin with capital letters, and say no time: "Monday" is none."""
    said = " ".join(words)
    return 0 < len(words) <= 3 and in_capitals(said) == words and not any(_is_time(word) for word in words)


def _is_time(word: str) -> bool:
    plain = word.strip(".,!?").casefold()
    return plain in TIMES or plain.removesuffix("s") in TIMES
