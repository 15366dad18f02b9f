"""What a turn says of how it is to be answered: "Make it short.", "Call me Tom.", "Please use the handbook."

Told from English words. It is no task of its own: beside a question the question counts.
"""

from __future__ import annotations

import re

_POLITE = (
    r"(?:(?:please|kindly|also|and|but|ok|okay|hi|hello|hey)\b[\s,:!.]{1,3}){0,3}"
    r"(?:(?:can|could|would) you )?(?:please )?"
)
_ANSWER = r"(?:it|that|this|them|everything|(?:the|your) (?:answer|reply|response|text|result))\b"
_LANGUAGE = r"(?:english|german|french|spanish|italian|dutch|polish|portuguese|russian|turkish|arabic|chinese|japanese)"
_MANNER = (
    r"(?:short(?:er)?|brief(?:ly)?|simpl[ey]|simpler|concise(?:ly)?|clear(?:ly)?|polite|friendly|formal|readable"
    r"|to the point)"
)
_PARTS = r"(?:lists?|tables?|bullets?|points?|sentences?|words?|paragraphs?|lines?|steps|detail|terms|jargon|emojis?)"
_SHAPE = (
    rf"(?:{_MANNER}|in short|(?:in|into) (?:plain |simple |good )?{_LANGUAGE}"
    r"|(?:as|in|with|without|under|within|using) "
    rf"(?:(?!(?:the|my|our|your|his|her|their|this|that|and)\b)\w+ ){{0,3}}?{_PARTS}"
    r"|(?:to|for) (?:an? |my )?(?:child|layman|beginner|kids))\b"
)
_SHAPES = rf"(?:(?:,? (?:and|but|very|more|too|rather|please|then)){{0,2}},? {_SHAPE}){{1,3}}"
_PAPERS = r"(?:documents?|docs|handbook|manual|guide|sources?|knowledge base|files?|policy|faq|website|intranet|wiki)"
_SAYS = re.compile(
    rf"\A{_POLITE}(?:"
    rf"(?:make|keep|put|write|give|say|format|phrase|word|return|present|answer|explain)(?: me| us)? {_ANSWER}"
    rf"(?: to me)?{_SHAPES}"
    rf"|(?:answer|reply|respond|write|speak)(?: to me| me)?{_SHAPES}"
    rf"|(?:translate|summari[sz]e|shorten|rephrase|rewrite|simplify) {_ANSWER}(?:{_SHAPES})?"
    r"|call me (?-i:[A-Z])\w+(?: (?-i:[A-Z])\w+)?"
    r"|(?:use|check|read|consult|go by|stick to|rely on|look (?:in|into|at)) (?:only )?(?:the|our|your|my|these|those)"
    rf" (?:\w+ )?{_PAPERS}(?: only)?"
    r")(?:,? (?:please|thanks|thank you|then|for me))?\W*(?:\Z|[:;,] | and (?=(?:tell|give|let|say)\b))",
    re.IGNORECASE,
)


def without_shape(sentence: str) -> str:
    """A sentence without what it says of how it is to be answered: "" or the rest of it ("Put it simply: who ...")."""
    return _SAYS.sub("", sentence)
