"""What both renderers do to text that is not ours before anyone looks at it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import pairwise
from typing import TypeVar

from intrinsics_core.protocol.errors import UNSHOWABLE
from intrinsics_core.protocol.results import CheckedCitation, Citation, SentenceVerdict
from intrinsics_core.protocol.task import Document
from intrinsics_core.render.positions import titles

Placed = TypeVar("Placed", SentenceVerdict, CheckedCitation)
Spot = tuple[int, str, int, int]  # document index and id, begin, end: two documents may have one id


def clean(text: str) -> str:
    """The text as it may be shown: line ends are ``\\n``, what cannot be shown is U+FFFD."""
    return UNSHOWABLE.sub("\ufffd", text.replace("\r\n", "\n").replace("\r", "\n"))


def spot(citation: Citation) -> Spot:
    return citation.document_index, citation.document_id, citation.document_begin, citation.document_end


def numbered(citations: Sequence[Citation]) -> dict[Spot, int]:
    """A number from 1 for each cited passage of text, in order of first citation."""
    ordered = sorted(citations, key=lambda c: (c.response_end, c.response_begin))
    spots = dict.fromkeys(map(spot, ordered))
    return {where: number for number, where in enumerate(spots, start=1)}


def numbered_sources(
    citations: Sequence[Citation], documents: Sequence[Document]
) -> Iterator[tuple[int, Citation, str | None]]:
    """Each cited passage once: its number, a citation of it, and the title of its document.

    Args:
        citations: the citations of one answer.
        documents: the documents that the answer was given.

    Returns:
        The passages, in the order of their numbers.
    """
    named = zip(citations, titles(citations, documents), strict=True)
    cited = {spot(citation): (citation, title) for citation, title in named}
    return ((number, *cited[where]) for where, number in numbered(citations).items())


def supporting(verdicts: Sequence[SentenceVerdict], citations: Sequence[Citation]) -> list[Citation]:
    """The citations but those that end with a sentence that is unfaithful."""
    refuted = {verdict.end for verdict in verdicts if verdict.label == "unfaithful"}
    return [citation for citation in citations if citation.response_end not in refuted]


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a response: what was said of it, the numbers of the citations that end with it, and of a mark or
    quote that does not hold its check."""

    text: str
    verdict: SentenceVerdict | None = None
    cited: tuple[int, ...] = ()
    wrong: CheckedCitation | None = None


def pieces(
    response: str,
    verdicts: Sequence[SentenceVerdict] = (),
    citations: Sequence[Citation] = (),
    marks: Sequence[CheckedCitation] = (),
) -> list[Piece]:
    """A response cut wherever a verdict, a citation or a wrong mark begins or ends. The pieces joined are the response.

    No citation is shown at the end of a sentence that is unfaithful: a mark would say that a source supports it.

    Args:
        response: the text of the response.
        verdicts: sentence verdicts with offsets in the response.
        citations: citations with offsets in the response.
        marks: the response's own citations, checked. Of those at one place the first that does not hold is shown.

    Returns:
        The pieces, in order.
    """
    citations = supporting(verdicts, citations)
    wrong = [mark for mark in marks if mark.verdict not in (None, "supported")]
    numbers = numbered(citations)
    edges = {0, len(response)}
    edges.update(edge for v in verdicts for edge in (v.begin, v.end))
    edges.update(edge for c in citations for edge in (c.response_begin, c.response_end))
    edges.update(edge for mark in wrong for edge in (mark.begin, mark.end))
    cuts = sorted(edge for edge in edges if 0 <= edge <= len(response))
    ending: dict[int, set[int]] = {}
    for c in citations:
        ending.setdefault(c.response_end, set()).add(numbers[spot(c)])
    said, at = _first_over(cuts, verdicts), _first_over(cuts, wrong)
    return [
        Piece(response[begin:end], said.get(begin), tuple(sorted(ending.get(end, ()))), at.get(begin))
        for begin, end in pairwise(cuts)
    ]


def _first_over(cuts: Sequence[int], rows: Sequence[Placed]) -> dict[int, Placed]:
    """By the beginning of a piece, the row whose place holds it: of several, the first. One pass over the cuts."""
    opening: dict[int, list[int]] = {}
    for i, row in enumerate(rows):
        # A row may begin before the text; its first whole piece begins with it.
        opening.setdefault(max(row.begin, 0), []).append(i)
    found: dict[int, Placed] = {}
    open_ones: list[int] = []  # a heap: the first in the list on top
    for begin, end in pairwise(cuts):
        for i in opening.get(begin, ()):
            heappush(open_ones, i)
        while open_ones and rows[open_ones[0]].end <= begin:
            heappop(open_ones)
        # What has ended below the top is met, and dropped, when it comes up.
        if open_ones and end <= rows[open_ones[0]].end:
            found[begin] = rows[open_ones[0]]
    return found
