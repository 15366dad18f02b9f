"""Verbs by which a line is told from a mere name, and a question from a request; alternatives of patterns."""

import re

from intrinsics_core.text.questions import AUXILIARY as AUXILIARY

# Verbs that show that a line says something and is no mere name.
FINITE = (
    rf"(?:{AUXILIARY}|be|costs?|opens?|closes?|includes?|offers?|pays?|takes?|gets?|needs?|allows?|starts?|ends?)\b"
)
HAS_VERB = re.compile(rf"\b{FINITE}|n['’]t\b", re.IGNORECASE)
"""Found where a text says something. Headings have a narrower one (`form`): in "Running costs" the word is a noun."""
