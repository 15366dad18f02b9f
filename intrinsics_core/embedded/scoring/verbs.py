"""Words that show that a line says something and is no mere name."""

FINITE = (
    r"(?:is|are|was|were|be|has|have|had|do|does|did|can|could|may|must|will|would|should|costs?|opens?|closes?|includes?"
    r"|offers?|pays?|takes?|gets?|needs?|allows?|starts?|ends?)\b"
)
