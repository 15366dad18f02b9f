"""Verbs by which a line is told from a mere name, and a question from a request; alternatives of patterns."""

# Verbs that a question of yes or no begins with.
AUXILIARY = "is|are|was|were|do|does|did|can|could|may|must|will|would|should|has|have|had"
# Verbs that show that a line says something and is no mere name.
FINITE = (
    rf"(?:{AUXILIARY}|be|costs?|opens?|closes?|includes?|offers?|pays?|takes?|gets?|needs?|allows?|starts?|ends?)\b"
)
