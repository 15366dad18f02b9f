"""Turns that ask nothing of the documents: a greeting, thanks, a goodbye, a request about the conversation itself."""

from __future__ import annotations

import re

_COURTESY = re.compile(
    r"\A\W*(?:(?:hi|hello|hey|good (?:morning|afternoon|evening|night)|thanks|thank you|thx|cheers|bye|goodbye|see you"
    r"|great|perfect|ok|okay|cool|nice|got it|i see|you['’]?re welcome|you are welcome|no problem|never mind"
    r"|that['’]?s all|that is all|how are you|have a (?:nice|good|great) (?:day|evening|weekend))\b"
    r"(?: (?:there|so much|a lot|very much|again|everyone|then|for (?:your|the|all your) help|for that|for now"
    r"|doing|today))*+[\s,.!?]*+){1,4}\W*\Z",
    re.IGNORECASE,
)
_WAYS = r"(?: (?:again|please|briefly|shortly|in (?:\w+ )?\w+|more (?:simply|slowly|briefly)))*+"
_OF_THE_TALK = re.compile(
    r"\A\W*(?:please,? )?(?:"
    r"(?:(?:can|could|would) you (?:please )?)?(?:repeat|rephrase|shorten|translate|explain|summari[sz]e|say|put)"
    rf" (?:that|it|this|your (?:last )?answer){_WAYS}"
    rf"|(?:(?:can|could|would) you (?:please )?)?(?:answer|reply|write|speak)(?: to me| me)? in \w+{_WAYS}"
    r"|what (?:did i|have i|was i) (?:just )?(?:ask|asked|say|said|asking)(?: you)?(?: before| first| just now)?"
    r"|what did you (?:just )?say(?: before| just now)?"
    rf"|(?:shorter|longer|simpler|again|once more|in short){_WAYS}"
    r")\W*\Z",
    re.IGNORECASE,
)
_LONGEST = 160  # characters


def asks_nothing(turn: str) -> bool:
    """Whether a user's turn asks nothing that documents could answer: "Thanks!", "Can you repeat that?"."""
    text = " ".join(turn[: 2 * _LONGEST].split())
    return len(text) <= _LONGEST and bool(_COURTESY.match(text) or _OF_THE_TALK.match(text))
