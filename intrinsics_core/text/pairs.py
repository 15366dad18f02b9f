"""Marks that come in pairs on one line: quotation marks, brackets, marks of bold text, and tags of HTML."""

from __future__ import annotations

import re
from collections import Counter

_MARK = re.compile(r"\*\*|__|[\"“”„«»()\[\]{}（）「」『』]|<(?P<end>/?)(?P<tag>[a-zA-Z]\w{0,20})(?:\s[^<>]{0,200})?>")
_ALIKE = ("**", "__", '"')  # the second one closes what the first one opens
_CLOSES = {")": "(", "]": "[", "}": "{", "）": "（", "」": "「", "』": "『", "»": "«", "”": "“„", "“": "„"}
_ALONE = frozenset(("br", "hr", "img", "input", "wbr"))  # tags that open nothing

Pair = tuple[re.Match[str], re.Match[str]]


def pairs(line: str) -> list[Pair]:
    """The marks of a line that belong together, by the place of the one that opens, and the one that closes it.

    A mark without a partner is in no pair. Of marks that look alike, an odd number is in no pair: one of them may be an
    inch.
    """
    marks, found = list(_MARK.finditer(line)), list[Pair]()
    alike = Counter(mark[0] for mark in marks)
    opened, names = list[tuple[str, re.Match[str]]](), Counter[str]()
    for mark in marks:
        name = mark["tag"].casefold() if mark["tag"] else mark[0]
        if name in _ALONE or mark[0].endswith("/>") or (name in _ALIKE and alike[name] % 2):
            continue
        closes = name if mark["end"] or name in _ALIKE else _CLOSES.get(name, "")
        partners = [closes] if mark["tag"] or name in _ALIKE else list(closes)
        partner = next((each for each in partners if names[each]), "")
        while partner:  # what is still open inside has no partner
            last, opening = opened.pop()
            names[last] -= 1
            if last == partner:
                found.append((opening, mark))
                break
        if not partner and not mark["end"] and (name == "“" or name not in _CLOSES):
            opened.append((name, mark))
            names[name] += 1
    return sorted(found, key=lambda pair: pair[0].start())
