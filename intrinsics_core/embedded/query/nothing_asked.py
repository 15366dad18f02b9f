"""Turns that ask nothing of the documents: a greeting, thanks, a goodbye, a request about the conversation itself."""

from __future__ import annotations

import re

_COURTESY = re.compile(
    r"\A\W*(?:(?:hi|hello|hey|good (?:morning|afternoon|evening|night)|thanks|thank you|thx|cheers|bye|goodbye|see you"
    r"|great|perfect|ok|okay|cool|nice|got it|i see|you['’]?re welcome|you are welcome|no problem|never mind"
    r"|that['’]?s all|that is all|have a (?:nice|good|great) (?:day|evening|weekend))\b"
    r"(?: (?:there|so much|a lot|very much|again|everyone|then|for (?:your|the|all your) help|for that|for now"
    r"|today))*+[\s,.!]*+){0,4}(?:how are you(?: doing| today)?\b[\s.!?]*+)?\Z",
    re.IGNORECASE,
)
_LANGUAGE = (
    r"(?:english|german|french|spanish|italian|dutch|polish|portuguese|russian|ukrainian|czech|turkish|greek|arabic|hindi"
    r"|chinese|japanese|korean|swedish|danish|norwegian|finnish)"
)
_WAYS = (
    r"(?: (?:again|please|briefly|more (?:simply|slowly|briefly)"
    rf"|in (?:{_LANGUAGE}|short|(?:more )?detail|(?:simple|simpler|other|fewer) words|(?:one|two|a few) sentences?)))*+"
)
_OF_THE_TALK = re.compile(
    r"\A\W*(?:please,? )?(?:"
    r"(?:(?:can|could|would) you (?:please )?)?(?:repeat|rephrase|shorten|translate|explain|summari[sz]e|say|put)"
    rf" (?:that|it|this|your (?:last )?answer){_WAYS}"
    rf"|(?:(?:can|could|would) you (?:please )?)?(?:answer|reply|write|speak)(?: to me| me)? in {_LANGUAGE}{_WAYS}"
    r"|what (?:did i|have i|was i) (?:just )?(?:ask|asked|say|said|asking)(?: you)?(?: before| first| just now)?"
    r"|what did you (?:just )?say(?: before| just now)?"
    r"|(?:shorter|longer|simpler|again|once more|in short)(?:,? please)?[.!]*+\Z"
    r")\W*\Z",
    re.IGNORECASE,
)
_LONGEST = 160  # characters


def asks_nothing(turn: str) -> bool:
    """Whether a user's turn asks nothing that documents could answer: "Thanks!", "Can you repeat that?"."""
    text = " ".join(turn.split()) if len(turn) <= 10 * _LONGEST else turn
    if len(text) > _LONGEST or not any(map(str.isalpha, text)):
        return False
    return bool(_COURTESY.match(text) or _OF_THE_TALK.match(text))
