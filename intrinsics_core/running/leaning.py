"""What a sentence of an answer cannot be judged without: the sentence behind it, or the lines that it stands under.

A heading, an introduction, the first rows of a table and a beginning of two words say nothing without what follows.
What else leans on the next sentence, the profile that judges says (`Profile.leans`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import takewhile

from intrinsics_core.text.layout import laid_out
from intrinsics_core.text.lines import heading_level, is_item
from intrinsics_core.text.tables import is_row, is_rule

_FEW = 2  # words of a beginning that may say little alone: "Great question!", "Ja, natürlich."
_UNSPACED = ("。", "！", "？")  # sentences that end so have no spaces between their words
_FIRST_OF_SEVERAL = re.compile(r"\A\|?\s*1\s*\|")  # a row whose number the next one shows to be one
_LONGEST = 200  # characters of a heading or a row that is kept, so that what is kept has a limit
_REACH = 400  # characters in which the beginning of a line is looked for
_SPARE = 100  # characters more than the size that may be kept, so that not every sentence costs a cut
_OF_A_TITLE = 8  # the level of a name without the mark of a heading: below those of all headings


def leans_by_form(sentence: str, before: str = "") -> bool:
    """Whether a sentence is judged with the one that follows it, whoever judges.

    Args:
        sentence: one sentence of an answer.
        before: what was said before the sentence, or the end of it.
    """
    if is_row(sentence):
        begins = not is_row(_last_line(before))
        return begins or is_rule(sentence) or _FIRST_OF_SEVERAL.match(sentence) is not None
    few = not before.strip() and len(sentence.split()) <= _FEW and not sentence.endswith(_UNSPACED)
    return few or bool(heading_level(sentence)) or sentence.endswith((":", "："))


def shortened(said: str, size: int, leans: Callable[[str, str, str], bool]) -> str:
    """The end of what was said, and in front of it the headings and the first rows of the table that it stands under.

    Args:
        said: what was said.
        size: characters of the end. It begins at a line, or at a word where the next line is far away.
        leans: whether a sentence leans on the next: the sentence, the next one, what was said before.
    """
    if len(said) <= size + _SPARE:
        return said
    end = said[-size:]
    line = end.find("\n", 0, _REACH)
    rest = end[line + 1 :] if line >= 0 else end.partition(" ")[2] or end
    sentences = [span.text for span in laid_out(said[: len(said) - len(rest)])]
    above = [*_headings(sentences, rest[:_REACH], leans), *_columns(sentences, rest)]
    return "\n".join([*above, rest])


def _headings(sentences: Sequence[str], rest: str, leans: Callable[[str, str, str], bool]) -> list[str]:
    """The headings, from the highest level on, that hold for what follows the sentences.

    None holds for prose behind a list: an embedded profile reads it so, too.
    """
    found, listed = dict[int, str](), False
    for text, following in zip(sentences, [*sentences[1:], rest], strict=True):
        item, named = is_item(text), text[-1:].isalnum() and not is_row(text) and leans(text, following, ".")
        if level := heading_level(text) or (named and _OF_A_TITLE):
            found = {higher: each for higher, each in found.items() if higher < level} | {level: text}
        elif listed and not item:
            found = {}
        listed = item
    return [f"{text}\n" for text in found.values() if len(text) <= _LONGEST]


def _columns(sentences: Sequence[str], rest: str) -> list[str]:
    """The row that names the columns, and its rule, where a table goes on in the rest."""
    if not is_row(rest.partition("\n")[0]):
        return []
    rows = list(takewhile(is_row, reversed(sentences)))[::-1]
    head = rows[: 2 if rows[1:] and is_rule(rows[1]) else 1]
    return head if all(len(row) <= _LONGEST for row in head) else []


def _last_line(text: str) -> str:
    return text.rstrip().rpartition("\n")[2]
