"""Questions in documents. A question states nothing: it is read with the answer that follows it.

"Is breakfast included?" above "No, it is 9 euros extra." reads "Is not breakfast included: it is 9 euros extra." A
question that is followed by another one, or by nothing, is not read.
"""

from __future__ import annotations

import re

from intrinsics_core.text.courtesy import NO, SADLY, SURELY, YES

AUXILIARY = "is|are|was|were|do|does|did|can|could|may|must|will|would|should|has|have|had"
"""Verbs that a question of yes or no begins with; alternatives of patterns."""

_LABEL = r"(?:#{1,6}\s+|[-*•>]\s+|\*\*|__|\(?\d{1,3}[.)]\s+|[“\"«„]|[^\W\d_][\w .’'-]{0,30}:\s+)"
_LABELS = re.compile(rf"\A{_LABEL}{{0,3}}")
_POLAR = re.compile(rf"\A(?:and |but |or |so )?(?P<auxiliary>{AUXILIARY})(?P<rest>\s.+)", re.IGNORECASE | re.DOTALL)
_OPEN = re.compile(
    r"\A(?:and |but |so )?(?:(?:in|at|on|to|by|for|from|since|until|with|under) )?"
    r"(?:who|whom|whose|what|which|when|where|why|how)\b",
    re.IGNORECASE,
)
_ANSWER = re.compile(r"\A(?:[-*•>]\s+|\*\*|\(?\d{1,3}[.)]\s+|(?:A|Answer):\s+){0,3}")
_CLOSING = "*_\"'”’»)] \t\r\n"
_BEGUN = re.compile(
    rf"\A(?:(?:{SADLY})\b,? )?(?:(?P<yes>{YES}|{SURELY})"
    rf"|(?P<no>(?:{NO})(?!\.\s?\d)|(?:(?:{SADLY}|{SURELY}) )?not))\b"
    r"(?:,? unfortunately)?"
    r"(?:\s?[.,;:!–—-]++\s*|\Z)",
    re.IGNORECASE,
)
_LEANS = re.compile(r"\A(?:it|they|this|that|these|those|he|she)\b", re.IGNORECASE)
_SUBJECT = re.compile(
    r"\A\s(?P<subject>(?:(?:the|an?|my|your|our|their|his|her|its|any) )?(?!there\b)\w+)", re.IGNORECASE
)
# Questions that tell what they seem to ask: "Did you know that the tower is 300 m tall?", "Are you free on Sunday, when
# entrance is free?"
_TELLS = re.compile(
    r"\A(?:and |but |so )?(?:(?:do you know that|did you (?:ever |already )?know|are you aware"
    r"|(?:would|can|could) you believe)(?! (?:whether|if|when|where|how|who|what|which|why|any\w*|of)\b)"
    r"|(?:have you (?:ever |already )?(?:wondered|heard|noticed)|do you (?:still )?(?:remember|recall))"
    r" (?:that|how|when|why|what|who|where))\b"
    r"|, (?:which|who|(?:when|where)(?: \w+){1,3}) (?:is|are|was|were|has|have|had)\b",
    re.IGNORECASE,
)
# What is asked of readers alone ("Are you over 65?"), and not of who answers ("Do you have a pool?").
_CONDITION = re.compile(
    r"\A(?P<verb>are|have|did) you (?:(?<=are you )"
    r"(?=(?:(?:under|over|above|below|aged?|between|at least|younger|older) (?:than )?\d"
    r"|(?:an? )?(?:adult|child|member|student|pupil|pensioner|resident|senior)\b))"
    r"|(?<=have you )(?=(?:already )?(?:lost|forgotten|missed|received|bought|booked|paid|moved)\b)"
    r"|(?<=did you )(?=(?:lose|forget|miss|receive|buy|book|pay|move)\b))",
    re.IGNORECASE,
)
# What is wanted or proposed: "Could you please send the plumber before 15 March?", "How about Thursday at 3?"
_WANTS = re.compile(
    r"\A(?:and |but |so )?(?:(?:could|would|can|will) you (?:please|kindly|also)|would it be possible|how about|what if"
    r"|why not|why don['’]t (?:we|you)|shall we)\b|\bplease\b",
    re.IGNORECASE,
)
_LONGEST = 300  # characters of a question


def asked(sentence: str) -> str:
    """The question that a sentence is, without a mark or a speaker in front and its question mark; "" if it is none.

    A sentence that asks at its end alone ("My parcel is lost, can you help?") tells something, too. So does "Did you
    know that the tower is 300 m tall?".
    """
    text = sentence.rstrip(_CLOSING)
    if not text.endswith("?") or len(text) > _LONGEST:
        return ""
    text = _LABELS.sub("", text).strip(_CLOSING).rstrip("?")
    return text if (_POLAR.match(text) or _OPEN.match(text)) and not _TELLS.search(text) else ""


def is_open(question: str) -> bool:
    """Whether a question that was `asked` asks for more than a yes or a no."""
    return _OPEN.match(question) is not None


def wants(question: str) -> bool:
    """Whether a question that was `asked` says what is wanted or proposed."""
    return _WANTS.search(question) is not None


def decides(sentence: str) -> bool:
    """Whether a sentence begins with a yes or a no."""
    return _BEGUN.match(_LABELS.sub("", sentence).strip()) is not None


def answered(question: str, answer: str) -> str:
    """A sentence that follows a question, as it is read with it.

    Args:
        question: what was `asked`.
        answer: the sentence as it stands, with a mark or a speaker in front.
    """
    said = _LABELS.sub("", answer).strip()
    polar = _POLAR.match(question)
    if polar is None:
        return f"{question}: {_ANSWER.sub('', answer)}"
    begun = _BEGUN.match(said)
    if begun is None:  # it is no yes, and would be read as one
        return _undecided(question, polar["rest"], said) or answer
    rest = said[begun.end() :]
    denied = " not" if begun["no"] else ""
    return f"{polar['auxiliary']}{denied}{polar['rest']}{f': {rest}' if rest else '.'}"


def _undecided(question: str, rest: str, said: str) -> str:
    """What says neither yes nor no, behind the condition that its question is, or what that is about; "" if neither."""
    if condition := _CONDITION.match(question):
        verb = "" if condition["verb"].casefold() == "did" else f"{condition['verb'].casefold()} "
        return f"If you {verb}{question[condition.end() :]}: {said}"
    subject = _SUBJECT.match(rest)
    return f"About {subject['subject']}: {said}" if subject and _LEANS.match(said) else ""
