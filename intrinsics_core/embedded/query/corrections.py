"""What a user's short turn stands for: "no, I meant Hull" is "and Hull?", "Yes please" is the offer that it accepts."""

from __future__ import annotations

import re
from collections.abc import Sequence

from intrinsics_core.text.courtesy import BEGINS, GREETING, PRAISE, SURELY, THANKS, YES

# No nested repetition: what may repeat is followed by a stop or a comma.
_THANKS = re.compile(
    rf"\A(?:(?:{GREETING}|{THANKS}|{PRAISE}|i see|good to know|{BEGINS})"
    r"(?: so much| a lot| cool| thanks)?[,.!]+ )+(?=(?:and|what about|how about|on|in|at|for)\b)",
    re.IGNORECASE,
)
_CORRECTS = re.compile(
    r"\A(?:(?:(?:no|sorry|oh)[,.!]+ )+(?:i (?:meant|mean) )?|i (?:meant|mean) |not [^,.?!]{2,40}, (?:but )?)"
    r"(?P<meant>[^,.?!]{2,40})[.!?]*\Z",
    re.IGNORECASE,
)
_ACCEPTS = re.compile(
    rf"\A\W*(?:{YES}|{SURELY}|ok|okay|please(?: do)?|go ahead|gladly|do (?:it|that|so))\b"
    r"(?:\W+(?:please|thanks|thank you|do(?: (?:it|that|so))?|i (?:would|am|do)|that would be (?:great|nice)"
    r"|go ahead)\b)*\W*\Z",
    re.IGNORECASE,
)
_NO_OFFER = r"(?![^.?!]*\b(?:help|ask|assist)\b)"
_OFFERS = re.compile(
    r"(?:\A|[.!?]\s+)(?P<offer>(?:(?:(?:shall|should|may|can|could) i|would you like|do you (?:want|need)"
    r"|(?:are you|would you be) interested in|(?:do you )?want me to)\b"
    rf"{_NO_OFFER}[^.?!]{{3,160}}\?|i (?:can|could) (?:also )?\b{_NO_OFFER}[^.?!]{{3,160}}"
    r",? if you(?:['’]d)? (?:like|want|wish)[.!?]))",
    re.IGNORECASE,
)
_ONLY_POLITE = re.compile(
    r"(?:\s*(?:(?:just |please )?(?:let me know|tell me|say so)|i(?:['’]m| am) happy to (?:help|do so))[\s.!]*)?\s*",
    re.IGNORECASE,
)
_A_THING = re.compile(r"(?:the|a|an|at|in|on|for|with|from|to)\s", re.IGNORECASE)


def as_fragment(text: str) -> str:
    """A turn that corrects the one before it as "and X?", thanks in front of a fragment left out; else as it is."""
    plain = " ".join(text.split())
    corrects = _CORRECTS.match(plain)
    if corrects and (_A_THING.match(corrects["meant"]) or corrects["meant"][0].isupper()) and "?" not in plain:
        return f"and {corrects['meant']}?"
    return _THANKS.sub("", plain) if _THANKS.match(plain) else text


def accepted_offer(turns: Sequence[tuple[str, str]]) -> str:
    """The offer of the assistant that the last turn accepts ("Shall I look up the opening hours?"); "" for none.

    Args:
        turns: (role, text), the user's last turn last.
    """
    if len(turns) < 2 or turns[-2][0] != "assistant" or not _ACCEPTS.match(turns[-1][1]):
        return ""
    said = turns[-2][1]
    offer = next((found for found in _OFFERS.finditer(said) if _ONLY_POLITE.fullmatch(said, found.end())), None)
    return offer["offer"] if offer else ""
