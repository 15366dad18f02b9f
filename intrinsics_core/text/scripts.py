"""Which script a text is written in, as far as it matters: whether the small models were fitted on it."""

from __future__ import annotations

import unicodedata
from collections import Counter

_LOOKED_AT = 2_000  # characters of a text; a script shows in less
_OTHER = 0.5  # share of letters from which on a text is of another script: names and quotes in one are common


def unfitted_script(text: str) -> str | None:
    """The script that most letters of a text are of where it is not Latin, as Unicode names it ("Cyrillic"), else None.

    The shipped models were fitted on English alone. Other languages in Latin letters are not told from it here.
    """
    letters = [c for c in text[:_LOOKED_AT] if c.isalpha()]
    other = [c for c in letters if not c.isascii()]
    names = Counter(unicodedata.name(c, "unknown").split()[0] for c in other)
    del names["LATIN"]
    if not letters or sum(names.values()) < _OTHER * len(letters):
        return None
    name = names.most_common(1)[0][0]
    return name if name == "CJK" else name.capitalize()
