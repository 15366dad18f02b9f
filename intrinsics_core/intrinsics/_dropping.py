"""The changes that put other texts in place of sentences, or drop them, and leave the form of the answer as it was.

A dropped sentence takes a gap along: the space behind it or the space before it. What stays is the line ends, the mark
of an item that goes on, and a quotation mark, a bracket or a mark of bold text whose partner stays.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence

from intrinsics_core.protocol.results import Change
from intrinsics_core.text.lines import is_item, marks_of
from intrinsics_core.text.pairs import pairs

Place = tuple[int, int]
Halves = tuple[Mapping[int, str], Mapping[int, str]]
_HASHES = re.compile(r"#{1,6}\s++")
_INDENT = "  "  # what a line of the same item begins with, at least


def changed(
    answer: str, sentences: Sequence[Place], texts: Mapping[int, str], why: Mapping[int, str]
) -> tuple[Change, ...]:
    """The changes that put these texts in place of sentences, by number. What is as it was is no change.

    A sentence that is dropped takes the space behind it along, or the space before it where that has no more line ends.
    The last ones take the space before them. A new text has the mark of the item or heading that it stands in.
    """
    dropped = {i for i, text in texts.items() if not text.strip()}
    halves = _halves(answer, sentences, dropped, texts)
    parts = [(i, *sentences[i], _marked(answer, sentences, i, texts[i].strip())) for i in {*texts} - dropped]
    for run in _runs(dropped):
        parts += _without(answer, sentences, run, halves)
    return tuple(
        Change(begin=begin, end=end, before=answer[begin:end], after=after, why=why.get(i, ""))
        for i, begin, end, after in sorted(parts)
        if after != answer[begin:end]
    )


def applied(answer: str, changes: Sequence[Change]) -> str:
    """The answer with these changes made; they do not overlap."""
    parts: list[str] = []
    at = 0
    for change in sorted(changes, key=lambda change: change.begin):
        parts += [answer[at : change.begin], change.after]
        at = change.end
    return "".join([*parts, answer[at:]])


def _marked(answer: str, sentences: Sequence[Place], i: int, text: str) -> str:
    """The new text of a sentence, behind the mark of the item or the heading that the sentence begins with."""
    return text if _mark(text) or not _begins_line(answer, sentences, i) else _mark(answer[slice(*sentences[i])]) + text


def _mark(text: str) -> str:
    return marks_of(text) or (hashes[0] if (hashes := _HASHES.match(text)) else "")


def _begins_line(answer: str, sentences: Sequence[Place], i: int) -> bool:
    return not i or "\n" in answer[sentences[i - 1][1] : sentences[i][0]]


def _runs(numbers: Collection[int]) -> Iterator[range]:
    """The numbers as ranges of those that follow one another."""
    for begin in sorted(number for number in numbers if number - 1 not in numbers):
        end = begin + 1
        while end in numbers:
            end += 1
        yield range(begin, end)


def _without(answer: str, sentences: Sequence[Place], run: range, halves: Halves) -> list[tuple[int, int, int, str]]:
    """What goes with each sentence of a run that is dropped: its number, the place, and what is left there."""
    first, last = run[0], run[-1]
    before = sentences[first - 1][1] if first else 0
    after = sentences[last + 1][0] if last + 1 < len(sentences) else len(answer)
    begin, end = sentences[first][0], sentences[last][1]
    left, right = answer[before:begin], answer[end:after]
    mark = marks_of(answer[begin:end]) if _begins_line(answer, sentences, first) else ""
    leading = True  # whether the gap before goes
    if last + 1 == len(sentences):
        begin, end = before, len(answer)
    elif "\n" not in right or (mark and _continues(right, answer[slice(*sentences[last + 1])])):
        leading, begin, end = False, begin + len(mark), after
    elif first and right.count("\n") >= left.count("\n"):
        begin = before
    else:
        leading, begin, end = False, begin - len(_indent(left)), after - len(_indent(right))
    closing, opening = ("".join(side[i] for i in run if i in side) for side in halves)
    if closing and not leading:  # it stands behind the sentence that it closes
        closing, begin = closing + left, before
    cuts = [begin, *(sentences[i][1] if leading else sentences[i + 1][0] for i in run[:-1]), end]
    return [(i, cuts[n], cuts[n + 1], "" if n else closing + opening) for n, i in enumerate(run)]


def _indent(gap: str) -> str:
    """The space that the next line begins with; empty where the gap holds more than space."""
    line = gap.rpartition("\n")[2]
    return "" if line.strip() else line


def _continues(gap: str, sentence: str) -> bool:
    """Whether the sentence behind a gap is a further line of the same item."""
    return _indent(gap).startswith(_INDENT) and not is_item(sentence)


def _halves(answer: str, sentences: Sequence[Place], dropped: Collection[int], texts: Collection[int]) -> Halves:
    """By number of a dropped sentence: the marks in it that close, and that open, what stands in a sentence that stays.

    A sentence that has a new text is none that stays: its own half may be gone.
    """
    closing, opening = defaultdict[int, str](str), defaultdict[int, str](str)
    begins = [begin for begin, _ in sentences]
    for mark, begin, end in _paired(answer) if dropped else ():
        i, j = (bisect_right(begins, at) - 1 for at in (begin, end))
        if i in dropped and j not in texts:
            opening[i] += mark[0]
        elif j in dropped and i >= 0 and i not in texts:
            closing[j] += mark[1]
    return closing, opening


def _paired(answer: str) -> Iterator[tuple[tuple[str, str], int, int]]:
    """The marks of the answer that belong together, and where each of both stands."""
    at = 0
    for line in answer.splitlines(keepends=True):
        for first, second in pairs(line):
            yield (first[0], second[0]), at + first.start(), at + second.start()
        at += len(line)
