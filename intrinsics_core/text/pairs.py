"""Marks that come in pairs on one line: quotation marks, brackets, marks of bold text, and tags of HTML."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

_MARK = re.compile(r"\*\*|__|[\"“”„«»()\[\]{}（）「」『』]|<(?P<slash>/?)(?P<tag>[a-zA-Z]\w{0,20})(?:\s[^<>]{0,200})?>")
_ALIKE = ("**", "__", '"')  # the second one closes what the first one opens
_CLOSED_BY = {"(": ")", "[": "]", "{": "}", "（": "）", "「": "」", "『": "』", "«": "»", "“": "”", "„": "“”"}
_CLOSING = frozenset("".join(_CLOSED_BY.values())) - {"“"}
_ALONE = frozenset(("br", "hr", "img", "input", "wbr"))  # tags that open nothing

Pair = tuple[re.Match[str], re.Match[str]]


def pairs(line: str) -> list[Pair]:
    """The marks of a line that belong together, by the place of the one that opens, and the one that closes it.

    A mark without a partner is in no pair. Of marks that look alike, an odd number is in no pair: one of them may be an
    inch.
    """
    marks = list(_MARK.finditer(line))
    tags = [mark for mark in marks if mark["tag"]]
    return sorted([*_alike(marks), *_brackets(marks), *_tags(tags)], key=lambda pair: pair[0].start())


def _alike(marks: Sequence[re.Match[str]]) -> Iterator[Pair]:
    for mark in _ALIKE:
        alike = [found for found in marks if found[0] == mark]
        if len(alike) % 2 == 0:
            yield from zip(alike[::2], alike[1::2], strict=True)


def _brackets(marks: Sequence[re.Match[str]]) -> Iterator[Pair]:
    opened: list[re.Match[str]] = []
    for found in marks:
        if opened and found[0] in _CLOSED_BY[opened[-1][0]]:
            yield opened.pop(), found
        elif found[0] in _CLOSED_BY:
            opened.append(found)
        elif found[0] in _CLOSING:
            opened.clear()  # what closes something else: what is open before it is not to be told


def _tags(tags: Sequence[re.Match[str]]) -> Iterator[Pair]:
    opened, names = list[re.Match[str]](), Counter[str]()
    for found in tags:
        name = found["tag"].casefold()
        if not found["slash"] and name not in _ALONE and not found[0].endswith("/>"):
            opened.append(found)
            names[name] += 1
        while found["slash"] and names[name]:  # the end of a list ends an item whose end is left out
            last = opened.pop()
            names[last["tag"].casefold()] -= 1
            if last["tag"].casefold() == name:
                yield last, found
                break
