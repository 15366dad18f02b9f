"""Marks of documents in a sentence: "The rent is 950 euros [2]." cites the second document, and two is no claim.

Only the number of a document can be such a mark. What looks like one and is a value stays: an index ("argv[1]"), what
"is" or "of" announces ("the range is [1, 5]"), and the number of a thing ("button [2]").
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from intrinsics_core.embedded.words import is_known

_NUMBERS = r"\[\d{1,3}(?: ?[,–-] ?\d{1,3})*+\]"
_CODE = r"```[\s\S]*|`[^`\n]*+`"
# A mark stands at the end of a sentence or of a clause: "It stands on a hill [2] and has a garden."
_GOES_ON = (
    r" (?:and|but|or|nor|while|whereas|which|who|that|because|if|when|so|is|are|was|were|has|have|had|can|must|may"
    r"|will|in|on|at|by|for|from|with|to)\b"
)
_MARK = re.compile(
    rf"{_CODE}|(?:(?<=[^\W_]) ?|(?<=[*”\"’%°€$£]) ?|(?<=[`)]) )(?P<numbers>{_NUMBERS}(?: ?{_NUMBERS})*+)"
    rf"(?=[*]{{0,2}}(?:[.!?…;,)](?!\w)|[。！？，]| ?\||:\s|\s*\Z|{_GOES_ON}))"
)
_NUMBER = re.compile(r"\d+")
_LAST_WORD = re.compile(r"([^\W_]+)[\W_]{0,3}\Z")
_INDEXED = re.compile(r"\b(\w++) ?\[\d")
# Words that announce a value, and things that have numbers.
_ANNOUNCES = re.compile(
    r"(?:is|are|was|were|be|been|has|have|had|costs?|takes?|needs?|equals?|returns?|gives?|contains?|press|choose|select"
    r"|enter|type|of|in|on|at|to|from|by|with|than|about|between|under|over|for|into|and|or|not|the|an?|each|every|only"
    r"|exactly|least|most|nearly|figures?|fig|tables?|steps?|items?|options?|buttons?|keys?|chapters?|sections?|lines?"
    r"|rows?|columns?|numbers?|no|equations?|examples?|exercises?|questions?|intervals?|ranges?|lists?|arrays?"
    r"|vectors?|index|indices|elements?|arguments?|bus|trams?|platforms?|gates?|rooms?|levels?|versions?)\Z",
    re.IGNORECASE,
)
_REACH = 40  # characters in which the word before a mark is looked for


def without_document_marks(sentences: Sequence[str], documents: Sequence[str]) -> list[str]:
    """As many texts as sentences, without the numbers of documents that they cite.

    Args:
        sentences: those of an answer.
        documents: the texts of the documents, counted from 1. A word that they write in front of a number in brackets
            keeps its number.
    """
    if not any("[" in sentence for sentence in sentences):
        return list(sentences)
    indexed = {word.casefold() for text in documents for word in _INDEXED.findall(text)}

    def left(found: re.Match[str]) -> str:
        numbers = found["numbers"]
        cites = numbers and all(0 < int(n) <= len(documents) for n in _NUMBER.findall(numbers))
        before = found.string[max(0, found.start() - _REACH) : found.start()]
        return "" if cites and _may_be_cited(before, found[0].startswith(" "), indexed) else found[0]

    return [_MARK.sub(left, sentence) for sentence in sentences]


def _may_be_cited(before: str, apart: bool, indexed: set[str]) -> bool:
    """Whether a number in brackets behind this is no index, value or number of a thing. ``apart``: behind a space."""
    last = _LAST_WORD.search(before)
    if last is None:
        return apart
    word = last[1]
    is_word = not word.isascii() or word.isdigit() or word[:1].isupper() or (len(word) > 1 and is_known(word))
    return (apart or is_word) and word.casefold() not in indexed and _ANNOUNCES.match(word) is None
