"""Marks that stand where personal data was taken out of an answer: "[REDACTED_EMAIL]", "anna@****.com".

A program such as LangChain's ``PIIMiddleware`` writes them after the model has answered. The model claimed none of
their words and digits, so no source has to support them.
"""

from __future__ import annotations

import re

_HINTS = ("_", "****", "*.*.*.")  # no mark is without one
_MARK = re.compile(
    r" ?(?:\[REDACTED_[A-Z0-9_]{1,40}\]|\[MASKED_URL\]|<[a-z0-9_]{1,40}_hash:[0-9a-f]{8,64}>"
    r"|(?<![\w.+-])[\w.+-]{1,64}@\*{4}(?:\.\w{2,24})?"
    r"|(?<![\w*])(?:\*{4}[- ]?){1,4}(?=\w{0,3}\d)\w{4}(?![\w*])"  # the end of a card's number, or of another one
    r"|(?<![\w*.])\*\.\*\.\*\.\d{1,3}(?!\w))"
)


def without_redactions(text: str) -> str:
    """The text without these marks."""
    return _MARK.sub("", text) if any(hint in text for hint in _HINTS) else text
