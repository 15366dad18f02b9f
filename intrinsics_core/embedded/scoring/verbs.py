"""Verbs by which a line is told from a mere name, and a question from a request; alternatives of patterns."""

from intrinsics_core.text.questions import AUXILIARY as AUXILIARY

# Verbs that show that a line says something and is no mere name.
FINITE = (
    rf"(?:{AUXILIARY}|be|costs?|opens?|closes?|includes?|offers?|pays?|takes?|gets?|needs?|allows?|starts?|ends?)\b"
)
