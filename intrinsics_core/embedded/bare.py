"""Answers of one word, such as "No.", "Ja!" or "Neither.": they say nothing without their question."""

from __future__ import annotations

import re

# In the languages that people ask in most; the word alone, or with its punctuation.
_YES = "yes|yeah|yep|true|ja|oui|si|sí|sim|sì|да|tak|evet|hai|是|对|はい|네"
_NO = "no|nope|false|never|nein|non|não|нет|nie|hayır|iie|不|不是|いいえ|아니요"
_OTHER = "always|both|neither|none|nothing|nobody"
_BARE = re.compile(rf"\A\W*+(?:(?P<yes>{_YES})|(?P<no>{_NO})|(?:{_OTHER}))\W*+\Z", re.IGNORECASE)

# Between the reader's logits of "No." and of "Yes." lie -5.6 where yes is right and 5.0 where no is, on questions
# made from encyclopedic statements (88), but 2.1 and 2.2 on everyday ones (98): it leans to no. So its yes counts
# from a small gap on, and its no is never more than a doubt.
_YES_BELOW, _NO_ABOVE = 1.0, 3.0


def is_bare(answer: str) -> bool:
    """Whether an answer is a yes, a no or another word that stands for a whole sentence."""
    return _BARE.match(answer) is not None


def stated(answer: str, question: str) -> str:
    """What is looked up for a sentence of an answer: itself, or behind its question where it is bare ("No.").

    A yes or no of another language is put in English: its letters are no word that sources could hold.
    """
    if not question or not is_bare(answer):
        return answer
    return f"{question} {_said(answer) or answer}"


def _said(answer: str) -> str | None:
    found = _BARE.match(answer)
    return None if found is None else "Yes." if found["yes"] else "No." if found["no"] else None


def contrary(answer: str) -> str | None:
    """The answer that a bare yes or no is weighed against; None for any other text."""
    said = _said(answer)
    return None if said is None else "No." if said == "Yes." else "Yes."


def weighed(answer: str, own: float, other: float) -> float:
    """The logit of a bare yes or no, from the reader's logits of it and of its `contrary`."""
    if _said(answer) == "Yes.":
        return _YES_BELOW - (other - own)
    return min(0.0, own - other - _NO_ABOVE)
