"""Which of two passages a reply in plain text prefers: the base model gives a letter, most often with an explanation.

The letter stands first, with or without "preferred passage" before it. "A" before another word is the choice where that
word goes on about a passage ("A is better", "A clearly names her"), and else an article. A digit with a stop before
words is a number of a list. Where the beginning does not tell, the one passage that the reply names counts.
"""

from __future__ import annotations

import re

_SAID = r"(?:(?:the\s++)?preferred\s++passage(?:\s++index)?(?:\s++is)?[\W_]*+)"
_AGAINST = (
    r"(?![^\S\n]++(?:\w{1,8}n['’]t\b|(?:\w++[^\S\n]++)?"
    r"(?:not\b(?!\s++only)|no\b(?!\s++doubt)|never|less|worse|irrelevant|unrelated|fails|lacks)\b))"
)
_GOES_ON = (
    r"(?:[a-z]{1,20}ly[^\S\n]++)?(?!(?:news|series|species|lens|gas)\b)(?:[a-z]{1,20}(?<![sui])s|is|was|can|will|would|may|might|because|since|as|for|over|due|"
    r"but|while|though|although)\b"
)
# What "A" or "a" is followed by where it is no article.
_NO_ARTICLE = rf"(?=[^\S\n]*+(?:[^\w\s]|\n|\Z)|[^\S\n]++(?:{_GOES_ON}))"

_NOT_BOTH = r"(?![^\S\n]*+(?:[/&,]|and\b|or\b)[^\S\n]*+(?:passage\s++)?[ab12]\b)"

_FIRST = re.compile(
    rf"\A[\W_]*+(?:{_SAID}(?:passage\s++)?(?P<said>[ab12])|passage\s++(?P<named>[ab12])|(?P<alone>[b12]|a{_NO_ARTICLE}))"
    rf"(?![a-z0-9]){_NOT_BOTH}{_AGAINST}",
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"\A[\W_]*+[12][.)]\s++(?=\w)")
_NAMED = re.compile(rf"\b[Pp]assage\s++[\"'“*]*+([AB12])\b{_AGAINST}")
# Published models say so of one pair in seven: a tie, and no failure.
_NEITHER = re.compile(rf"\A[\W_]*+{_SAID}?(?:neither|none|both|n/a)\b", re.IGNORECASE)


def is_tie(text: str) -> bool:
    return _NEITHER.match(text) is not None


def preferred(text: str) -> int | None:
    """Where in the text the letter or digit of the preferred passage stands; None where it names none, or both."""
    number = _NUMBERED.match(text)
    if number is None:
        return _place(text)
    behind = text[number.end() :]
    if (place := _place(behind)) is not None:
        return number.end() + place
    return None if _NAMED.search(behind) else _first(text)


def _place(text: str) -> int | None:
    if (place := _first(text)) is not None:
        return place
    named = list(_NAMED.finditer(text))
    return named[0].start(1) if len({match[1] for match in named}) == 1 else None


def _first(text: str) -> int | None:
    match = _FIRST.match(text)
    return match.start(match.lastgroup or 0) if match else None
