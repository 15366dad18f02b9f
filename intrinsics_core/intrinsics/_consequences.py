"""What else goes, and what stays, where sentences of an answer are dropped: headings, lists, code, footnotes."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from intrinsics_core.protocol.results import SentenceVerdict
from intrinsics_core.text.citation_marks import called, note
from intrinsics_core.text.lines import BOLD, blocks, heading_level, is_item
from intrinsics_core.text.reading import columns_of
from intrinsics_core.text.sentences import Span
from intrinsics_core.text.tables import is_row, is_rule

_NOTHING_BELOW = "nothing is left of what it introduces"
_NO_CODE = "nothing is left of the block of code"
_UNCALLED = "nothing that is left calls this footnote"

_SECTION = 6  # the lowest level of a heading that prose behind its list belongs to
_LINE, _RULE = BOLD, BOLD + 1  # the levels of any other line that introduces, and of the rule below the head of a table


def settled(answer: str, sentences: Sequence[SentenceVerdict], dropped: set[int]) -> dict[int, str]:
    """The sentences that are dropped in the end, by number, and why where another one is the reason, else "".

    Args:
        answer: the text that the sentences are from.
        sentences: its sentences, in order.
        dropped: numbers of the sentences that are to be dropped for what they say.
    """
    gone = dict.fromkeys(dropped, "")
    code_blocks = [range(*block) for block in blocks([sentence.text for sentence in sentences])]
    for block in code_blocks:
        if not gone.keys().isdisjoint(block):
            if all(i in gone or sentences[i].label == "NA" for i in block):
                gone = dict.fromkeys(block, _NO_CODE) | gone
            else:  # a program that lacks a line is another program
                gone = {i: why for i, why in gone.items() if i not in block}
    columns = columns_of(answer, [Span(s.begin, s.end, s.text) for s in sentences])
    for i in sorted(gone, reverse=True):
        if _holds(sentences, columns, i, gone):
            del gone[i]
    gone |= dict.fromkeys(_uncalled(sentences, gone), _UNCALLED)
    code = frozenset(i for block in code_blocks for i in block)
    return gone | dict.fromkeys(_emptied(sentences, {*gone}, code), _NOTHING_BELOW)


def _holds(sentences: Sequence[SentenceVerdict], columns: Sequence[int], i: int, gone: Collection[int]) -> bool:
    """Whether an item ends in a colon and an item below it, which is indented deeper, stays."""
    if not (is_item(sentences[i].text) and sentences[i].text.rstrip("*_").endswith((":", "："))):
        return False
    items = (j for j in range(i + 1, len(sentences)) if columns[j] >= 0 and is_item(sentences[j].text))
    for j in items:
        if columns[j] <= columns[i]:
            return False
        if j not in gone:
            return True
    return False


def _uncalled(sentences: Sequence[SentenceVerdict], gone: Collection[int]) -> list[int]:
    """The footnotes that dropped sentences alone call."""
    notes = {i: name for i, sentence in enumerate(sentences) if (name := _note(sentence))}
    if not notes:
        return []
    by_what: tuple[set[str], set[str]] = set(), set()  # that stays, that goes
    for i, sentence in enumerate(sentences):
        by_what[i in gone].update(() if i in notes else called(sentence.text))
    return [i for i, name in notes.items() if name in by_what[True] - by_what[False]]


def _note(sentence: SentenceVerdict) -> str:
    """The name of the footnote that a sentence is, or of the source that it names and claims nothing; "" for none."""
    name, is_footnote = note(sentence.text) or ("", False)
    return name if is_footnote or sentence.label == "NA" else ""


def _emptied(sentences: Sequence[SentenceVerdict], dropped: set[int], code: Collection[int]) -> set[int]:
    """The headings and introductions below which nothing is left, something having been dropped."""
    levels = [0 if i in code else _level(sentences, i) for i in range(len(sentences))]
    found = set[int]()
    for i in reversed(range(len(sentences))):
        below = list(_below(i, levels, sentences, code)) if levels[i] and i not in dropped else []
        if below and dropped.union(found).issuperset(below):
            found.add(i)
    return found


def _below(i: int, levels: Sequence[int], sentences: Sequence[SentenceVerdict], code: Collection[int]) -> Iterator[int]:
    """The sentences that a heading or an introduction stands above.

    A list, a table or a block of code ends what a line above it introduces. Below a heading prose may follow it, but no
    courtesy.
    """
    listed = False
    for j in range(i + 1, len(sentences)):
        part = j in code or _is_part(sentences[j].text)
        over = listed and not part and not levels[j] and (levels[i] > _SECTION or sentences[j].label == "NA")
        if over or 0 < levels[j] <= levels[i]:
            return
        listed = part
        yield j


def _level(sentences: Sequence[SentenceVerdict], i: int) -> int:
    """Of a sentence that claims nothing, the level of the heading or introduction that it is; 0 where it is none."""
    text = sentences[i].text
    if sentences[i].label != "NA" or i + 1 == len(sentences):
        return 0
    if is_row(text):
        return _RULE if is_rule(text) else 0 if i and is_row(sentences[i - 1].text) else _LINE
    if level := heading_level(text):
        return level
    names = text[-1:].isalnum() and not is_item(text) and _is_part(sentences[i + 1].text)
    return _LINE if names or text.endswith((":", "：")) else 0


def _is_part(text: str) -> bool:
    """Whether a sentence is an item of a list or a row of a table."""
    return is_item(text) or is_row(text)
