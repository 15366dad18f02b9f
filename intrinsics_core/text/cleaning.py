"""A sentence as it is read: without what a page does not show, with the letters that were meant.

Code between two fences is read as it is. Of an answer, what a page would hide is read, too: its reader may see it.
Nothing of a sentence as it is read is cited or returned: offsets count in the text as it came.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence

from intrinsics_core.text.fences import coded, fenced
from intrinsics_core.text.web_pages import as_formatted, as_shown

_LIGATURE = re.compile("[\ufb00-\ufb06]")
_QUOTED = re.compile(r"^(?:>[ \t]?)+(?![ \t]?\d)", re.MULTILINE)
_CUT = re.compile(r"(?<![^\W\d_-])([^\W\d_]{1,30}[a-zß-öø-ÿ])-[ \t]{0,9}\r?\n[ \t]{0,9}([a-zß-öø-ÿ]{1,30})")
_CUT_YEAR = re.compile(r"\b(1[5-9]|20)-[ \t]{0,9}\r?\n[ \t]{0,9}(\d\d)\b")
# A picture in base64, a key, a hash: in one run, or in lines of 60 and more.
_RUN = re.compile(r"(?<![\w+/=%-])(?:[\w+/=%-]{60,}+(?:\r?\n)?+)++", re.ASCII)
_LONGEST, _LEFT = 200, 20  # characters of a run that are read; of a longer one
_PART = 3  # letters that a word has which stands before a hyphen: "self-service"
_SPAN = 10  # two numbers no further apart may be a range: "in 18-20 days"


def cleaned(
    sentences: Sequence[str], is_known: Callable[[str], bool], shown: Callable[[str], str] = as_shown
) -> list[str]:
    """The sentences of a document without tags and what a page hides; entities, ligatures and cut words as
    they were meant. Code between two fences stays as it is.

    Args:
        sentences: in order (`layout.laid_out`).
        is_known: whether a word is one that texts use. "cancella-" and "tions" in the next line are one word then.
        shown: what a reader sees of one of them.
    """
    code = coded(sentences)
    return [text if i in code else _cleaned(text, is_known, shown) for i, text in enumerate(sentences)]


def cleaned_answer(sentences: Sequence[str], is_known: Callable[[str], bool]) -> list[str]:
    """`cleaned` sentences of an answer. What a page would hide, and its scripts, are a part of what it says."""
    return cleaned(sentences, is_known, as_formatted)


def _cleaned(text: str, is_known: Callable[[str], bool], shown: Callable[[str], str]) -> str:
    text = _lettered(shown(_QUOTED.sub("", text) if ">" in text else text))
    return _joined(text, is_known) if "-" in text and "\n" in text else text


def without_runs(text: str) -> str:
    """The text with the beginning alone of each long run of characters without spaces, which has no words.

    >>> without_runs("A map: " + "iVBORw0KGgo" * 2_000 + " It opens at nine.")
    'A map: iVBORw0KGgoiVBORw0KG It opens at nine.'
    """
    if len(text) <= _LONGEST:
        return text
    return _RUN.sub(lambda run: run[0] if len(run[0]) <= _LONGEST else run[0][:_LEFT], text)


def as_meant(text: str) -> str:
    """A text of any length as a page shows it, without ligatures. Code between two fences stays as it is."""
    pieces, at = [], 0
    for begin, end in fenced(text):
        pieces += [_lettered(as_shown(text[at:begin])), text[begin:end]]
        at = end
    return "".join([*pieces, _lettered(as_shown(text[at:]))])


def each_as_meant(sentences: Sequence[str]) -> list[str]:
    """`as_meant` sentences of a document."""
    code = coded(sentences)
    return [text if i in code else as_meant(text) for i, text in enumerate(sentences)]


def _lettered(text: str) -> str:
    """The text without ligatures."""
    return text if text.isascii() else _LIGATURE.sub(lambda match: unicodedata.normalize("NFKC", match[0]), text)


def _joined(text: str, is_known: Callable[[str], bool]) -> str:
    def word(cut: re.Match[str]) -> str:
        begun, ended = cut.groups()
        apart = min(len(begun), len(ended)) >= _PART and is_known(begun) and is_known(ended)
        return f"{begun}-{ended}" if apart and not is_known(begun + ended) else begun + ended

    def year(cut: re.Match[str]) -> str:
        first, last = cut.groups()
        return cut[0] if 0 < int(last) - int(first) <= _SPAN else f"{first}{last}"

    return _CUT_YEAR.sub(year, _CUT.sub(word, text))
