"""Which of two passages a reply in plain text prefers: the base model gives a letter, most often with an explanation.

The letter stands first, with or without "preferred passage" before it. "A" before another word is the choice where that
word goes on about a passage ("A is better", "A clearly names her"), and else an article. A digit with a stop before
words is a number of a list. Where the beginning does not tell, the one passage that the reply names counts, or the one
behind "but".
"""

from __future__ import annotations

import re

_SAID = r"(?:(?:the\s++)?preferred\s++passage(?:\s++index)?(?:\s++is)?[\W_]*+)"
# What says after all that a passage is preferred: "not perfect, but better than A", "lacks a date but names the hour".
_STILL_PREFERRED = (
    r"[^.\n]{0,120}?\b(?:but|yet)[^\S\n]++(?:(?:it|is|still|the|much|far)[^\S\n]++){0,3}"
    r"(?:(?:answers|gives|has|names|provides|says|states|tells)\b|(?:better|best|clearer|closer|closest|preferable|preferred)"
    r"(?=[^\w\s]|\Z|[^\S\n]++(?:choice|fit|match|of|one|option|passage|than)\b))"
)
_AGAINST = (
    r"(?![^\S\n]++(?:\w{1,8}n['’]t\b|(?:\w++[^\S\n]++)?"
    r"(?:not\b(?!\s++(?:only|passage|[AB12]\b))|no\b(?!\s++doubt)|never|less|worse|irrelevant|unrelated|fails|lacks)\b)"
    rf"(?!{_STILL_PREFERRED}))"
)
_GOES_ON = (
    r"(?:(?:[a-z]{1,20}ly|also|best|better|even|just|more|most|only|still)[^\S\n]++){0,3}"
    r"(?!(?:news|series|species|lens|gas)\b)(?:[a-z]{1,20}(?<![sui])s|is|was|can|will|would|may|might|because|since|as|"
    r"for|over|due|it|but|while|though|although|by|could|did|gave|had|said|should|told|with|"
    r"[a-z]{2,20}ed[^\S\n]++(?:all|her|his|how|it|its|that|the|their|this|what|when|where|who)|"
    r"[a-z]{2,8}n['’]t|must[^\S\n]++be|not[^\S\n]++(?:passage[^\S\n]++)?[b12]|"
    r"(?:certainly|clearly|definitely|likely|obviously|only|probably)(?=[^\S\n]*+(?:[^\w\s]|\n|\Z))|"
    r"(?:explanation|rationale|reason|reasoning)(?=[^\S\n]*+:))\b"
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
_AFTER_ALL = re.compile(
    rf"\b(?:[Bb]ut|[Hh]owever|[Oo]verall|[Ss]till|[Yy]et)\b,?\s++(?:[Pp]assage\s++)?([AB12])(?=[^\S\n]++{_GOES_ON}){_AGAINST}"
)
# Published models say so of one pair in seven: a tie, and no failure.
_NEITHER = re.compile(rf"\A[\W_]*+{_SAID}?(?:neither|none|both|n/a)\b", re.IGNORECASE)


def is_tie(text: str) -> bool:
    return _NEITHER.match(text) is not None


def preferred(text: str) -> int | None:
    """Where in the text the letter or digit of the preferred passage stands; None where it names none, or both."""
    number = _NUMBERED.match(text)
    begin = number.end() if number else 0
    if (place := _place(text[begin:])) is not None:
        return begin + place
    return _first(text) if number and not _NAMED.search(text[begin:]) else None


def _place(text: str) -> int | None:
    if (place := _first(text)) is not None:
        return place
    for names in (_NAMED, _AFTER_ALL):
        named = list(names.finditer(text))
        if len({match[1] for match in named}) == 1:
            return named[0].start(1)
    return None


def _first(text: str) -> int | None:
    match = _FIRST.match(text)
    return match.start(match.lastgroup or 0) if match else None
