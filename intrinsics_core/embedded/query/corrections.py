"""A user's correction, or thanks in front of a fragment, as the plain fragment: "no, I meant Hull" as "and Hull?"."""

from __future__ import annotations

import re

# No nested repetition: what may repeat is followed by a stop or a comma.
_THANKS = re.compile(
    r"\A(?:(?:thank you|thanks|thx|great|perfect|cool|nice|i see|good to know|ok|okay|hmm|alright)"
    r"(?: so much| a lot| cool| thanks)?[,.!]+ )+(?=(?:and|what about|how about|on|in|at|for)\b)",
    re.IGNORECASE,
)
_CORRECTS = re.compile(
    r"\A(?:(?:(?:no|sorry|oh)[,.!]+ )+(?:i (?:meant|mean) )?|i (?:meant|mean) |not [^,.?!]{2,40}, (?:but )?)"
    r"(?P<meant>[^,.?!]{2,40})[.!?]*\Z",
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
