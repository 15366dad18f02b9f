"""Which of several values a reply stands by, as its words around them tell: drafts, corrections and other cases.

A reply may correct a value ("Wait, ... Corrected:"), say what the value would be in another case ("If the documents
were empty it would be"), announce its value ("Here is my verdict:"), or repeat the form with its blanks ("...").
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

_CORRECTS = re.compile(
    r"\b(?:wait|actually|correct(?:ed|ion|ing)|mistaken?|sorry|apolog\w+|final(?:ly)?|rather|revised?|reconsider\w*|"
    r"updated?|instead|after all|second thoughts?|reflection|wrong|drafts?|hold on|hmm?|oops|but no|better)\b",
    re.IGNORECASE,
)
# What leads to another case: one of these words, beside a verb of the other column.
_CASES = tuple(
    (re.compile(rf"\b(?:{words})\b", re.IGNORECASE), re.compile(rf"\b(?:{verbs})\b", re.IGNORECASE))
    for words, verbs in (
        ("if|without|unless|otherwise|suppose|supposing|assuming|were|had|with no", "would|could|might"),
        ("if", "were|was|did|had"),
        ("hypothetical|hypothetically", ""),
    )
)
_SENTENCE_END = re.compile(r"[.!?]\s|\n\s*\n")
_TENTATIVE = re.compile(
    r"\b(?:draft|first|maybe|perhaps|might|may|could|would|think|thinking|try|guess|suppose|let|okay|hmm?|either|or)\b",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"[.!?]\s|\n\s*\S|[<>\[\]]")
_LONGEST_ANNOUNCEMENT = 120
_BLANK = re.compile(r"\A(?:[\W_]*+|<[^<>\d]*+>|[\w ]++(?:\|[\w ]++)++)\Z")
_ID = re.compile(r"<?[a-z]\d{1,9}>?", re.IGNORECASE)


def corrects(between: str) -> bool:
    """Whether the text between two values says that the second corrects the first."""
    return _CORRECTS.search(between) is not None and not of_another_case(between)


def of_another_case(between: str) -> bool:
    """Whether the text between two values leads to the second as what holds in another case, and corrects nothing."""
    if _CORRECTS.search(between):
        return False
    begin = max((match.end() for match in _SENTENCE_END.finditer(between.rstrip())), default=0)
    lead = between[begin:]
    return any(words.search(lead) and verbs.search(lead) for words, verbs in _CASES)


def is_announced(before: str, behind: str) -> bool:
    """Whether one line with a colon or a code fence leads to a value, and nothing behind it takes the value back."""
    line = before.strip()
    if fenced := "```" in line:
        line, _, language = line.rpartition("```")
        if language.strip().casefold() not in ("", "json"):
            return False
    line = line.strip().strip("*_")
    if not (fenced or line.endswith(":")) or len(line) > _LONGEST_ANNOUNCEMENT:
        return False
    return not (_SENTENCE.search(line) or _TENTATIVE.search(line) or _CORRECTS.search(behind))


def is_blank_form(value: Any) -> bool:
    """Whether a value repeats the form that was asked for, with blanks ("...", "<label>", "yes|no") for its texts."""
    found = list(_texts(value))
    return any(text and not _ID.fullmatch(text) for text in found) and all(
        _BLANK.match(text) or _ID.fullmatch(text) for text in found
    )


def is_part(part: Any, whole: Any) -> bool:
    """Whether a value repeats a part of another: some of its numbers, or some of a list of texts in the same order."""
    if isinstance(part, list) and isinstance(whole, list):
        if not part or not all(isinstance(text, str) for text in part):
            return False
        rest = iter(whole)
        return len(part) <= len(whole) and all(text in rest for text in part)
    if not (isinstance(part, dict) and isinstance(whole, dict)):
        return False
    if not part or not part.keys() <= whole.keys():
        return False
    if len(part) < len(whole) and all(type(number) in (int, float) for number in part.values()):
        return True
    return all(
        is_part(part[key], whole[key]) if isinstance(part[key], list) else part[key] == whole[key] for key in part
    )


def _texts(value: Any, depth: int = 0) -> Iterator[str]:
    """The texts in a value; forms that are asked for nest three deep."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list) and depth < 4:
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts(item, depth + 1)
