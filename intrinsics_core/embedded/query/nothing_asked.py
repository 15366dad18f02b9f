"""Turns that ask nothing of the documents: a greeting, thanks, a remark, a request about the conversation itself."""

from __future__ import annotations

import re

from intrinsics_core.embedded.query.lexicon import ASKING, COURTESY, LANGUAGES, plain
from intrinsics_core.embedded.query.remarks import is_remark
from intrinsics_core.embedded.words import tokens
from intrinsics_core.text.courtesy import GOODBYE, GREETING, HEARD, PRAISE, THANKS

_COURTESY = re.compile(
    rf"\A\W*(?:(?:{GREETING}|{THANKS}|{GOODBYE}|{PRAISE}|{HEARD}"
    r"|got it|i see|you['’]?re welcome|you are welcome|no problem|never mind"
    r"|that['’]?s all|that is all|have a (?:nice|good|great) (?:day|evening|weekend))\b"
    r"(?: (?:there|so much|a lot|very much|again|everyone|then|for (?:your|the|all your) help|for that|for now"
    r"|today))*+[\s,.!]*+){0,4}(?:how are you(?: doing| today)?\b[\s.!?]*+)?\Z",
    re.IGNORECASE,
)
_LANGUAGE = f"(?:{'|'.join(sorted(LANGUAGES))})"
_WAYS = (
    r"(?: (?:again|please|briefly|more (?:simply|slowly|briefly)"
    rf"|in (?:{_LANGUAGE}|short|(?:more )?detail|(?:simple|simpler|other|fewer) words|(?:one|two|a few) sentences?)))*+"
)
_OF_THE_TALK = re.compile(
    r"\A\W*(?:please,? )?(?:"
    r"(?:(?:can|could|would) you (?:please )?)?(?:repeat|rephrase|shorten|translate|explain|summari[sz]e|say|put)"
    rf" (?:that|it|this|your (?:last )?answer){_WAYS}"
    rf"|(?:(?:can|could|would) you (?:please )?)?(?:answer|reply|write|speak)(?: to me| me)? in {_LANGUAGE}{_WAYS}"
    r"|what did you (?:just )?say(?: before| just now)?"
    r"|(?:shorter|longer|simpler|again|once more|in short)(?:,? please)?[.!]*+\Z"
    r")\W*\Z",
    re.IGNORECASE,
)
_OF_THE_USER = re.compile(
    r"\A\W*what (?:did i|have i|was i) (?:just )?(?:ask|asked|say|said|asking)(?: you)?"
    r"(?: before| first| just now)?\W*\Z",
    re.IGNORECASE,
)
_LONGEST = 160  # characters
_FEW = 8  # words of a turn that begins with thanks or a greeting


def asks_nothing(turn: str) -> bool:
    """Whether a user's turn surely asks nothing that documents could answer: "Thanks!", "Can you repeat that?"."""
    text = _short(turn)
    listed = any(pattern.match(text) for pattern in (_COURTESY, _OF_THE_TALK, _OF_THE_USER))
    return bool(text) and (listed or is_remark(text))


def asks_again(turn: str) -> bool:
    """Whether a turn asks for the last answer once more, or in another form: "Can you repeat that?", "In short."."""
    return _OF_THE_TALK.match(_short(turn)) is not None


def is_courtesy(turn: str) -> bool:
    """Whether a turn is thanks, a greeting or a goodbye, maybe with a remark: "Great!", "Thanks, that was it.".

    It is not as sure as `asks_nothing`: a question is only left as it stands where this is wrong.
    """
    text = _short(turn)
    words = [plain(token) for token in tokens(text)]
    behind = next((word for word in words if word not in COURTESY and word != "you"), "")
    remarks = "?" not in text and len(words) <= _FEW and behind not in ASKING
    return bool(words) and bool(_COURTESY.match(text) or (words[0] in COURTESY and remarks))


def _short(turn: str) -> str:
    """A turn of a few words on one line; "" for any other."""
    text = " ".join(turn.split()) if len(turn) <= 10 * _LONGEST else ""
    return text if len(text) <= _LONGEST and any(map(str.isalpha, text)) else ""
