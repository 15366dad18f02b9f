"""A sentence as it is read: without what a page does not show, with the letters that were meant.

Nothing of it is cited or returned: offsets count in the text as it came.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

from intrinsics_core.text.page_breaks import without_page_breaks
from intrinsics_core.text.web_pages import as_shown

_LIGATURE = re.compile("[\ufb00-\ufb06]")
_QUOTED = re.compile(r"^(?:>[ \t]?)+(?![ \t]?\d)", re.MULTILINE)
_CUT = re.compile(r"(?<![^\W\d_-])([^\W\d_]{1,30}[a-zß-öø-ÿ])-[ \t]{0,9}\r?\n[ \t]{0,9}([a-zß-öø-ÿ]{1,30})")
_CUT_YEAR = re.compile(
    r"\b(in|since|until|till|from|of|before|after|by|seit|bis) (1[5-9]|20)-[ \t]{0,9}\r?\n[ \t]{0,9}(\d\d)\b"
)
_PART = 3  # letters that a word has which stands before a hyphen: "self-service"
_SPAN = 10  # two numbers no further apart may be a range: "in 18-20 days"


def cleaned(text: str, is_known: Callable[[str], bool]) -> str:
    """The text without page breaks, tags and what a page hides; entities, ligatures and cut words as they were meant.

    Args:
        text: a sentence, or more of a text.
        is_known: whether a word is one that texts use. "cancella-" and "tions" in the next line are one word then.
    """
    if "\n" in text or "\r" in text or "\f" in text:
        text = without_page_breaks(text)
    text = as_meant(_QUOTED.sub("", text) if ">" in text else text)
    return _joined(text, is_known) if "-" in text and "\n" in text else text


def as_meant(text: str) -> str:
    """A text of any length as a page shows it, without ligatures."""
    text = as_shown(text)
    return text if text.isascii() else _LIGATURE.sub(lambda match: unicodedata.normalize("NFKC", match[0]), text)


def _joined(text: str, is_known: Callable[[str], bool]) -> str:
    def word(cut: re.Match[str]) -> str:
        begun, ended = cut.groups()
        apart = min(len(begun), len(ended)) >= _PART and is_known(begun) and is_known(ended)
        return f"{begun}-{ended}" if apart and not is_known(begun + ended) else begun + ended

    def year(cut: re.Match[str]) -> str:
        introduced, first, last = cut.groups()
        span = int(last) - int(first)
        return cut[0] if 0 < span <= _SPAN else f"{introduced} {first}{last}"

    return _CUT_YEAR.sub(year, _CUT.sub(word, text))
