"""Answers that say yes or no in other words: "Of course you can!", "No problem.", "I'm afraid not.", a thumb."""

from __future__ import annotations

import re

from intrinsics_core.text.courtesy import SURELY, YES
from intrinsics_core.text.questions import AUXILIARY

_SURELY = rf"(?:{SURELY}|surely|indeed|correct|exactly|gladly|{YES})"
_SADLY = r"(?:(?:i['’]?m|i am|we['’]re|we are) (?:very |so )?(?:sorry|afraid)|sorry|unfortunately|sadly|regrettably)"
_SUBJECT = r"(?:you|it|he|she|they|there|that|this)"
_VERB = rf"(?:{AUXILIARY})"
_NOT = r"(?: ?not|n?['’]t)"
_YES = re.compile(
    rf"\A\W*(?:{_SURELY}|(?:{_SURELY},? )?(?:you (?:can|may)|please do|by all means|go ahead|no problem"
    r"|that(?:['’]s| is) (?:fine|ok|okay|all right|possible|no problem))"
    rf"|{_SURELY},? {_SUBJECT} {_VERB}|i['’]?m afraid so)(?: at all| indeed| too)?\W*\Z",
    re.IGNORECASE,
)
_NO = re.compile(
    rf"\A\W*(?:(?:{SURELY}) not|by no means|not at all"
    rf"|(?:no,? )?{_SADLY},? (?:but )?(?:no|not|{_SUBJECT} {_VERB}{_NOT})"
    rf"|{_SURELY},? {_SUBJECT} {_VERB}{_NOT})\W*\Z",
    re.IGNORECASE,
)
_YES_SIGN = re.compile(r"\A\s*[👍👌✅✔][\ufe0f\U0001f3fb-\U0001f3ff\s]*\Z")
_NO_SIGN = re.compile(r"\A\s*[👎❌🚫✖][\ufe0f\U0001f3fb-\U0001f3ff\s]*\Z")
# "Can I ask you something?" asks nothing of documents, and to "Is there a problem?" is "No problem." a no.
_OTHERWISE = re.compile(
    r"\b(?:(?:can|could|would|will|ask|call|tell|trouble|bother|for|with) you|ask (?:something|a|another|one more)"
    r"|problems?|trouble|issues?|mind|matter|wrong)\b",
    re.IGNORECASE,
)
# To "Will I be charged for my dog?" it may say that there is no charge.
_NO_PROBLEM = re.compile(r"\bno problem\b", re.IGNORECASE)
_BURDEN = re.compile(
    r"\b(?:fees?|charge[ds]?|costs?|penalty|penalties|fines?|extra|surcharges?|need|must|have to|required)\b",
    re.IGNORECASE,
)


def meant(answer: str, question: str) -> str | None:
    """ "Yes." or "No.", where that is all that an answer to a question of yes or no says in other words; else None."""
    if _OTHERWISE.search(question) or (_NO_PROBLEM.search(answer) and _BURDEN.search(question)):
        return None
    if _YES.match(answer) or _YES_SIGN.match(answer):
        return "Yes."
    return "No." if _NO.match(answer) or _NO_SIGN.match(answer) else None
