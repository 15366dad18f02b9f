"""Lines of a streaming answer of which a part was judged already.

A line that ran out of room goes on in the next one. What is still open of an answer may begin in the middle of a line:
it looks shorter than that line is, and a mark within the line looks like the mark of a heading.
"""

from __future__ import annotations

from collections.abc import Sequence

from intrinsics_core.protocol.task import Split
from intrinsics_core.text.lines import is_fence
from intrinsics_core.text.sentences import Span

_REACH = 400  # characters of what was said before that are looked at
_BREAKS = str.maketrans("\r\n", "  ")


def split_behind(before: str, rest: str, split: Split) -> Sequence[Span]:
    """The sentences of a rest as the whole text has them, with offsets in the rest.

    Args:
        before: what was said before it: the end of that, at least.
        rest: what is open.
        split: finds sentences.
    """
    spaces = rest[: len(rest) - len(rest.lstrip())]
    above = _paragraph(before) if "\n" in rest.strip() and "\n" not in before[-1:] + spaces else ""
    if not above:  # a line that begins here, or does not go on
        return split(rest)
    begin = len(above)
    spans = [span for span in split(above + rest) if span.end > begin]
    if spans and spans[0].begin < begin:  # with the line above it there are other sentences: that split does not count
        return split(rest)
    return [Span(first - begin, last - begin, text) for first, last, text in spans]


def readable_alone(said: str, spans: Sequence[Span], split: Split) -> str:
    """The text with spaces for the line breaks inside its sentences, where alone it would be split otherwise.

    All places in it stay. Where that does not help, and where a word is cut at the end of a line, it stays as it is.
    """
    if not any("\n" in span.text for span in spans) or _places(split(said)) == _places(spans):
        return said
    pieces, at = list[str](), 0
    for begin, end, text in spans:
        pieces += [said[at:begin], text if "-\n" in text else text.translate(_BREAKS)]
        at = end
    joined = "".join([*pieces, said[at:]])
    return joined if _places(split(joined)) == _places(spans) else said


def would_be_heading(text: str, sentence: Span, following: Span) -> bool:
    """Whether the following sentence, alone, would be a heading: it has the mark of one, but within a line."""
    return following.text.startswith("#") and "\n" not in text[sentence.end : following.begin]


def _paragraph(said: str) -> str:
    """The last lines without a blank one between them, and the beginning of the line that is not ended."""
    lines, first = said[-_REACH:].splitlines(keepends=True), 0
    for i, line in enumerate(lines):
        if not line.strip() or is_fence(line):
            first = i + 1
    return "".join(lines[first:])


def _places(spans: Sequence[Span]) -> list[tuple[int, int]]:
    return [(span.begin, span.end) for span in spans]
