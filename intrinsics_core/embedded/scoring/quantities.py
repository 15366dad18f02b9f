"""Numbers, amounts, times and dates of a text as values: equal ones share a key, however they are written.

"1.5 kg" and "1500 g" are both ``kg:1.5``, "9 p.m." and "21:00" ``clock:1260`` (minutes of the day), "25 December" and
"Christmas Day" ``date:12-25``. A number without a unit has its value alone, ``#12``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from intrinsics_core.embedded.scoring.dates import days
from intrinsics_core.embedded.scoring.numbers import ORDINAL_VALUES, ORDINALS
from intrinsics_core.embedded.scoring.quantity import Quantity
from intrinsics_core.embedded.scoring.times import clocks
from intrinsics_core.embedded.scoring.units import amounts, singles
from intrinsics_core.text.memory import remembered

_ORDINAL = re.compile(rf"(?<!\w)(?:(?P<digits>\d+)(?:st|nd|rd|th)|(?P<word>{'|'.join(ORDINALS.split())}))(?!\w)", re.I)


def _ordinals(text: str) -> Iterator[Quantity]:
    for match in _ORDINAL.finditer(text):
        value = float(match["digits"]) if match["digits"] else ORDINAL_VALUES[match["word"].casefold()]
        yield Quantity(*match.span(), frozenset(), frozenset({value}))


_SPACES = dict.fromkeys(map(ord, "\u00a0\u2007\u2009\u200a\u200b\u202f\u2060\ufeff"), " ") | {ord("\u2044"): "/"}
# "20¹ euros" has a footnote, "10⁶" a power.
_FOOTNOTE = re.compile(r"(?<=\d)(?<!\b10)[¹²³⁰⁴-⁹]++(?!\w)")


def evened(text: str) -> str:
    """A text of the same length, with plain spaces and without the footnotes behind numbers."""
    if text.isascii():
        return text
    return _FOOTNOTE.sub(lambda match: " " * len(match[0]), text.translate(_SPACES))


@remembered(4096)
def quantities(text: str) -> tuple[Quantity, ...]:
    """The quantities of a text. They may overlap: "1 hour 30 minutes" is three of them."""
    plain = evened(text)
    return tuple(q for find in (amounts, singles, clocks, days, _ordinals) for q in find(plain))
