"""Sentences of prose, split at its stops; one after an abbreviation, an initial or an item's number is none.

Told from form alone; English, German and French abbreviations are known, other languages need none or lose a little.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from intrinsics_core.text.words import MONTHS, WEEKDAYS, word_set

_STOPS = tuple(".!?…。！？｡:：;；؟۔।॥።")
_STOP = re.compile(
    r"(?P<wide>(?:[。！？｡]|．(?!\d))++[”’」』）】》\"')\]]*+)"
    # Looked for at the first mark of a run alone: from each of a thousand dots it would run over all the others.
    r"|(?<![.!?…‼⁇⁈⁉؟۔।॥።])(?P<marks>[.!?…‼⁇⁈⁉؟۔।॥።]++)(?P<close>[\"'”’»)\]}*_]*+(?:\[\^?\d{1,3}(?:[,–-]\s?\d{1,3})*+\])*+)(?=\s)"
)
_NEXT = re.compile(r"\s*+([\"'“‘„«(\[*_]*+)(\w*+)")
_BEFORE = 24  # characters before a stop that are looked at: no abbreviation is longer
_QUOTES = "([\"“‘'„«/"  # what a word may stand behind

# An end only where a word follows that begins sentences.
_ABBREVIATED = word_set("""
    dr mr mrs ms mx prof rev gen col sgt capt lt cmdr hon sen rep gov st mt hr fr bzgl bzw z.b d.h u.a vs cf viz approx
    ca e.g i.e messrs mme mlle tel fax incl inkl excl exkl zzgl avg no nos nr fig figs eq eqs sec sect ch vol vols pp p
    pg art arts para cl ex app tab ver v jan feb mar apr jun jul aug sep sept oct nov dec ext ref rm apt bldg reg abs nr
    pág pag núm núms qty std tbsp tsp inc ltd co corp jr sr bros al dept univ assn est etc ave blvd rd min max ed eds
    trans usw evtl
""")
_HOURS = word_set("a.m p.m")
_STARTERS = word_set("""
    a an the this that these those it its he she they we you i his her their our my your there here in on at for from by
    with as if when while after before since although though however but and so yet no not yes all some many most each
    both one who what where why how please contact also then thus see der die das er sie es wir ein eine le la les il
    elle un une
""")
_DAYS = frozenset((*WEEKDAYS, *MONTHS)) | word_set("et est pt pst gmt utc cet")


def is_ended(text: str) -> bool:
    """Whether a mark that ends sentences, or a colon, stands at the end."""
    return text[-_BEFORE:].rstrip("\"'”’»)]）」』*_").endswith(_STOPS)


def ended(text: str) -> str:
    """The text with a period behind it, where no mark of its own ends it."""
    text = text.rstrip()
    return text if is_ended(text) else f"{text}."


def sentences_of(text: str, begin: int, end: int) -> Iterator[tuple[int, int]]:
    """Cuts of one unit after its stops."""
    start = begin
    for stop in _STOP.finditer(text, begin, end):
        if _ends(text, start, stop, end):
            yield start, stop.end()
            start = stop.end()
    yield start, end


def _ends(text: str, start: int, stop: re.Match[str], end: int) -> bool:
    """Whether a sentence that began at ``start`` ends at this stop."""
    if stop["wide"]:
        quoted = stop["wide"][-1] in "”」』’"
        return not (quoted and text[stop.end() : stop.end() + 1] in tuple("とっ、，,って"))
    following = _NEXT.match(text, stop.end(), end)
    opened, follower = following.groups() if following else ("", "")
    capital = not follower[:1].islower()
    if stop["marks"] != "." or stop["close"].strip("*_"):
        return capital
    initial = len(follower) == 1 and text.startswith(".", following.end()) if following else False
    begins = capital and not initial and follower[:_BEFORE].casefold() in _STARTERS
    said = text[max(start, stop.start() - _BEFORE) : stop.start()]
    before = said[max(map(said.rfind, (*_QUOTES, " ", "\n", "\t"))) + 1 :].lstrip("*_")
    lower = before.casefold()
    if before.isdigit():
        return capital and not (len(before) <= 3 and _is_first(text, start, stop.start() - len(before)))
    if lower in _HOURS:
        return capital and follower[:_BEFORE].casefold() not in _DAYS and not opened.startswith("(")
    if lower in _ABBREVIATED or all(len(part) == 1 and part.isalpha() for part in lower.split(".")):  # "U.S."
        return begins
    return capital or (len(before) > 2 and before[-1].isalpha() and before.isascii() and not stop["close"])


def _is_first(text: str, start: int, place: int) -> bool:
    """Whether a number here would be that of an item: at a sentence's beginning, or after a colon."""
    before = text[max(start, place - _BEFORE) : place].rstrip("*_-•( \t\r\n")
    return before.endswith((":", ";")) or (not before and place - start <= _BEFORE)
