"""Turns that are remarks: "Thanks, that helps a lot!", "My name is Tom and I have two kids.", "I have a question".

Each part of such a turn is thanks, a remark in words of talk alone ("I'll think about it", "wrong chat"), who the user
is or a question to whoever answers. A part with a word of anything else may be a question without its mark ("dogs
allowed", "I lost my ticket"), and so the turn is no remark.
"""

from __future__ import annotations

import re

from intrinsics_core.embedded.query.asking_the_bot import asks_the_bot
from intrinsics_core.embedded.query.introductions import introduces
from intrinsics_core.text.words import word_set

_PART = re.compile(r"(?P<said>[^,.!;:?…—–]++)(?P<mark>[,.!;:?…—–\s]*+)")
_AND = re.compile(r"\s(?:and|but|so)\s(?=(?:i|we|my|you|your|that|this|it|thank|thanks)\b)", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+")

# Words that say nothing by themselves. An apostrophe parts "that's" in two.
_SMALL = word_set(
    "i we you u me us my our your it that this they them all everything nothing what is are was were am be been"
    " being has have had will would could can do does did don doesn didn won couldn wasn isn not no yes yeah yep"
    " nope s ll ve re m d t so very really quite pretty truly such much more most one two few another a an the to of"
    " for with about on in at as and or but if too just only now then again already still also lot lots bit well oh"
    " ah um hmm hm exactly quickly back there here today later soon tomorrow let go going get got come make makes"
    " made please say said right by any else ok okay alright"
)
# Words of the talk, of praise and of taking leave, with which a remark may begin.
_OPENING = word_set(
    "thanks thank thx ty cheers appreciate appreciated grateful sorry apologies oops hello hi hey welcome bye"
    " goodbye good great nice fine perfect excellent awesome amazing wonderful brilliant fantastic lovely super cool"
    " bad happy glad pleased relieved interesting funny haha lol wow kidding joking just testing sounds looks feel"
    " talk speak never enough forget ignore continue wait hold understood wrong kind friendly quick helpful"
    " impressive done solved settled"
)
# All words of the talk that a remark may have. Those added here may be what somebody looks for where they come first:
# "best time", "answer to question 5".
OF_TALK = _OPENING | word_set(
    "help helps helped helping useful answer answers answered reply replies response explanation explains question"
    " questions ask asked asking something sense clear clearer clearly understand see think thinking thought know"
    " moment second chat best fast worry worries apologise apologize confusion mistake fault typo window"
    " conversation day evening weekend morning night luck care mind heard try tried read works worked perfectly"
    " impressed satisfied disturb bother decide consider saved new"
)
_BEGINS = _OPENING | word_set(
    "i we you my your it that this they all everything nothing ok okay alright yes yeah yep no nope not well oh ah"
    " um hmm hm so then now please have got"
)

_WISHED = re.compile(
    r"\b(?P<wish>(?:want(?:ed)?|like|need) to (?:ask|talk|chat)|need (?:some |your |a bit of )?(?:help|advice))\b"
    r"|\b(?:what|all) (?:i|we) (?:(?:wanted|needed) to (?:know|hear)|needed|wanted|meant|(?:was|were) looking for)\b"
)
_THANKS = re.compile(
    r"(?:(?:ok|okay|many|no) )?(?:thanks|thank (?:you|u)|thx|cheers)"
    r"(?: (?:a|so|very|tons|loads|again|everyone|anyway|all|to|in advance)\b[a-z ]{0,20}?)?(?: for .{1,60})?",
)
# "so it works on the weekend" and "thanks and in the evening" may ask; "have a nice evening" does not.
_ABOUT_A_TIME = re.compile(
    r"\b(?:on|in|at|for|by|until|before|after|during) (?:the |a |this |my )?"
    r"(?:weekend|evening|morning|night|day|two|one)\b"
)
_FAILS = re.compile(
    r"\b(?:nothing|(?:not|n't|never) \w+) works?\b|\b(?:not|n't|never) works?\b|\bhave you (?:got|any)\b"
)
_ASKS = re.compile(
    r"\b(?:who|whose|what|which|when|where|why|how|if|whether|tell(?:ing)?|show(?:ing)?|find(?:ing)?|look(?:ing)?"
    r"|search(?:ing)?|want(?:ed)?|need(?:ed)?|wonder(?:ing)?|wish|hope|problem|trouble|issue|lost|broken|stuck)\b"
)


def is_remark(turn: str) -> bool:
    """Whether each part of a turn is a remark, and one of them is more than words that say nothing ("Yes, it is.")."""
    kinds = [_says(piece, asks) for piece, asks in _pieces(turn)]
    return None not in kinds and True in kinds


def introduces_somebody(turn: str) -> bool:
    """Whether a turn is a remark of which a part says who the user is: "Sure, we are two adults and a child."."""
    return is_remark(turn) and any(introduces(piece) for piece, _ in _pieces(turn))


def _pieces(turn: str) -> list[tuple[str, bool]]:
    """The parts of a turn, each with whether a question mark stands behind it."""
    text = " ".join(turn.replace("’", "'").split())
    return [
        (piece.strip(), "?" in part["mark"])
        for part in _PART.finditer(text)
        for piece in _AND.split(part["said"])
        if _WORD.search(piece)
    ]


def _says(part: str, asks: bool) -> bool | None:
    """Whether a part is a remark by itself; None for one that may ask something of the documents."""
    if asks or asks_the_bot(part):
        return asks_the_bot(part) or None
    said = _WISHED.sub(_in_words_of_talk, part.casefold())
    if not _ASKS.search(said) and (_THANKS.fullmatch(said) or introduces(part)):
        return True
    words = _WORD.findall(said)
    if words[0] not in _BEGINS or not (_SMALL | OF_TALK).issuperset(words):
        return None
    if _ABOUT_A_TIME.search(said) or _FAILS.search(said):
        return None
    return not _SMALL.issuperset(words)


def _in_words_of_talk(found: re.Match[str]) -> str:
    return "ask" if found["wish"] else "good"
