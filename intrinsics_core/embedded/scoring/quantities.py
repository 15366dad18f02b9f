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


@remembered(4096)
def quantities(text: str) -> tuple[Quantity, ...]:
    """The quantities of a text. They may overlap: "1 hour 30 minutes" is three of them."""
    return tuple(q for find in (amounts, singles, clocks, days, _ordinals) for q in find(text))


def spelled_as_in(source: str, text: str) -> str:
    """The text with each amount or time in the source's spelling, where the source has the same one.

    A small model does not know that "9 p.m." is "21:00", or that "1.5 kg" are "1500 g".
    """
    theirs = {key: each for each in reversed(quantities(source)) for key in each.keys if not key.startswith("date:")}
    if not theirs:
        return text
    parts, at = list[str](), 0
    for mine in sorted(quantities(text), key=lambda each: (each.begin, -each.end)):
        same = next((theirs[key] for key in sorted(mine.keys) if key in theirs), None)
        if same is None or mine.begin < at:
            continue
        parts += [text[at : mine.begin], source[same.begin : same.end]]
        at = mine.end
    return "".join(parts) + text[at:]
