"""Answers of one word, such as "No.", "Ja!" or "Neither.": they say nothing without their question."""

from __future__ import annotations

import re
import unicodedata

_YES, _NO = "yes|yeah|yep|true", "no|nope|false|never"
# Those of other languages that are no word or abbreviation of another ("si", "hai" and "tak" are).
_ITS_YES = "ja|oui|sí|sì|да|evet|是|是的|对|はい|네"
_ITS_NO = "nein|non|não|нет|nie|hayır|不|不是|いいえ|아니요"
_OTHER = "always|both|neither|none|nothing|nobody"
_BARE = re.compile(
    rf"\A\W*+(?:(?P<yes>{_YES}|(?P<its_yes>{_ITS_YES}))|(?P<no>{_NO}|(?P<its_no>{_ITS_NO}))|(?:{_OTHER}))\W*+\Z",
    re.IGNORECASE,
)

# By so much must the reader's logit of "Yes." win over that of "No.": of 275 questions on texts that it was not trained
# on, a wrong yes then passes in .20 of the cases, a right one in .41 (`python -m training.reader.bare`). At the same
# margin a wrong no passes in .30 and a right one in .46, so a no is never more than a doubt.
_MARGIN = 0.5


def _found(answer: str) -> re.Match[str] | None:
    return _BARE.match(unicodedata.normalize("NFC", answer))


def is_bare(answer: str) -> bool:
    """Whether an answer is a yes, a no or another word that stands for a whole sentence."""
    return _found(answer) is not None


def stated(answer: str, question: str) -> str:
    """What is looked up for a sentence of an answer: itself, or behind its question where it is bare ("No.").

    A yes or no of another language is put in English: its letters are no word that sources could hold.
    """
    found = _found(answer)
    if found is None or not question.strip():
        return answer
    return f"{question} {'Yes.' if found['its_yes'] else 'No.' if found['its_no'] else answer}"


def _said(answer: str) -> str | None:
    found = _found(answer)
    return None if found is None else "Yes." if found["yes"] else "No." if found["no"] else None


def contrary(answer: str) -> str | None:
    """The answer that a bare yes or no is weighed against; None for any other text."""
    said = _said(answer)
    return None if said is None else "No." if said == "Yes." else "Yes."


def weighed(answer: str, own: float, other: float) -> float:
    """The logit of a bare yes or no, from the reader's logits of it and of its `contrary`."""
    gap = own - other - _MARGIN
    return gap if _said(answer) == "Yes." else min(0.0, gap)
