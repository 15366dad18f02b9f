"""Words that several modules know: months and days, greetings, thanks and agreement, verbs that questions begin with.

What is the alternatives of a pattern is in lower case, and so are the names of months and days.
"""

from __future__ import annotations


def word_set(text: str) -> frozenset[str]:
    """A set of words written as one text, separated by spaces."""
    return frozenset(text.split())


MONTHS = tuple("january february march april may june july august september october november december".split())  # noqa: SIM905
SHORT_MONTHS = (*(month[:3] for month in MONTHS), "sept")
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")

HELLO = "hello|hi|hey"
GREETING = rf"(?:{HELLO}|good\s(?:morning|afternoon|evening|day|night))"
THANKS = r"thanks|thank\syou|thx|cheers"
PRAISE = "great|perfect|cool|nice"
YES, NO = "yes|yeah|yep", "no|nope"
SURELY = r"sure|of\scourse|certainly|absolutely|definitely"
"""What is a yes before a claim: "Sure, it opens at nine."."""
SADLY = "unfortunately|sadly|sorry|fortunately|luckily"
"""What may stand before a yes, a no or a claim and says only how it is taken."""
BEGINS = "and|but|so|or|also|then|well|ok|okay|alright|oh|ah|um|hm|hmm|hmmm"
"""What a turn may begin with before it asks or tells something."""
AUXILIARY = "is|are|was|were|do|does|did|can|could|may|must|will|would|should|has|have|had"
"""Verbs that a question of yes or no begins with."""
