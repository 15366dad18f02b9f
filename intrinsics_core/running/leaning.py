"""What a sentence of an answer cannot be judged without: the sentence behind it, or the lines that it stands under.

A heading, an introduction, the first rows of a table and a bare "No." say nothing without what follows. An item is read
behind its heading, and a row of a table behind the names of its columns. What is a heading and what is bare, the
scoring of the embedded profile says. A language model cannot judge such a line alone either.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import takewhile

from intrinsics_core.text.layout import laid_out
from intrinsics_core.text.lines import heading_level
from intrinsics_core.text.tables import is_row, is_rule

_COMING = "word"
_FEW = 3  # words of a beginning that may say little alone: "Great question!", "Ja, natürlich."
_LITTLE = 2  # of them with content: to `split`, a Chinese sentence is one word
_NAMES_A_TITLE = 8  # the level of a line that is the title of a document: below those of all headings
_FIRST_OF_SEVERAL = re.compile(r"\A\|?\s*1\s*\|")  # a row whose number the next one shows to be one
_LONGEST = 200  # characters of a heading or a row that is kept, so that what is kept has a limit
_REACH = 400  # characters in which the beginning of a line is looked for
_SPARE = 100  # characters more than the size that may be kept, so that not every sentence costs a cut


def leans(sentence: str, following: str, before: str = "", titles: Iterable[str] = ()) -> bool:
    """Whether a sentence is judged with the one that follows it, and not alone.

    Args:
        sentence: one sentence of an answer.
        following: what is known of the next one.
        before: what was said before the sentence, or the end of it.
        titles: those of the documents. A line that is such a title says what the next ones are about.
    """
    from intrinsics_core.embedded.claims import NUMBERING
    from intrinsics_core.embedded.short_answers import is_bare
    from intrinsics_core.embedded.view import read_answer

    if is_row(sentence):
        begins = not is_row(_last_line(before))
        return begins or is_rule(sentence) or _FIRST_OF_SEVERAL.match(sentence) is not None
    # A marker alone ("-") begins an item whose words are not written yet.
    formed = read_answer([sentence, following if following.split()[1:] else f"{following} {_COMING}"])[0]
    if heading_level(formed) or sentence.endswith((":", "：")) or NUMBERING.match(sentence):
        return True
    if is_bare(sentence):
        return True
    return _names_a_title(formed, titles) or (not before.strip() and _says_little(sentence))


def shortened(said: str, size: int, titles: Iterable[str] = ()) -> str:
    """The end of what was said, and in front of it the headings and the first rows of the table that it stands under.

    Args:
        said: what was said.
        size: characters of the end. It begins at a line, or at a word where the next line is far away.
        titles: those of the documents, as for `leans`.
    """
    if len(said) <= size + _SPARE:
        return said
    end = said[-size:]
    line = end.find("\n", 0, _REACH)
    rest = end[line + 1 :] if line >= 0 else end.partition(" ")[2] or end
    sentences = [span.text for span in laid_out(said[: len(said) - len(rest)])]
    above = [*_headings(sentences, rest[:_REACH], titles), *_columns(sentences, rest)]
    return "\n".join([*above, rest])


def _headings(sentences: list[str], following: str, titles: Iterable[str]) -> list[str]:
    """The headings, from the highest level on, that hold for what follows the sentences.

    None holds for prose behind a list: it is read so by `subjects`, too.
    """
    from intrinsics_core.embedded.view import read_answer

    found, listed = dict[int, str](), False
    for text in read_answer([*sentences, following])[:-1]:
        item = text.startswith("- ")
        if level := heading_level(text) or (_names_a_title(text, titles) and _NAMES_A_TITLE):
            found = {higher: each for higher, each in found.items() if higher < level} | {level: text}
        elif listed and not item:
            found = {}
        listed = item
    return [f"{text}\n" for text in found.values() if len(text) <= _LONGEST]


def _columns(sentences: list[str], rest: str) -> list[str]:
    """The row that names the columns, and its rule, where a table goes on in the rest."""
    if not is_row(rest.partition("\n")[0]):
        return []
    rows = list(takewhile(is_row, reversed(sentences)))[::-1]
    head = rows[: 2 if rows[1:] and is_rule(rows[1]) else 1]
    return head if all(len(row) <= _LONGEST for row in head) else []


def _names_a_title(text: str, titles: Iterable[str]) -> bool:
    from intrinsics_core.embedded.about import only_names_one
    from intrinsics_core.embedded.words import told_apart

    return only_names_one(text, told_apart(titles))


def _says_little(beginning: str) -> bool:
    """Whether the beginning of an answer is no claim that could be all of it: "Sure!", "It is."."""
    from intrinsics_core.embedded.claims import makes_claim
    from intrinsics_core.embedded.words import terms

    few = len(beginning.split()) <= _FEW and len(terms(beginning)) <= _LITTLE
    return few or not makes_claim(beginning)


def _last_line(text: str) -> str:
    return text.rstrip().rpartition("\n")[2]
