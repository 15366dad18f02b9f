"""What people say beside what they tell or ask: greetings, thanks, agreement, and words that only begin.

Each list is the alternatives of a pattern, in lower case. A rule takes the lists that it needs and names beside them
what else it takes.
"""

from __future__ import annotations

HELLO = "hello|hi|hey"
GREETING = rf"(?:{HELLO}|good\s(?:morning|afternoon|evening|day|night))"
THANKS = r"thanks|thank\syou|thx|cheers"
PRAISE = "great|perfect|cool|nice"

YES = "yes|yeah|yep"
NO = "no|nope"
SURELY = r"sure|of\scourse|certainly|absolutely|definitely"
"""What is a yes before a claim: "Sure, it opens at nine."."""
SADLY = "unfortunately|sadly|sorry|fortunately|luckily"
"""What may stand before a yes, a no or a claim and says only how it is taken."""

HEARD = "ok|okay|alright|oh|ah|um|hm|hmm|hmmm"
BEGINS = f"and|but|so|or|also|then|well|{HEARD}"
"""What a turn may begin with before it asks or tells something."""
