"""Where a mark may stand in an answer with code: not within a block of code, where it would be part of the code."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import replace

from intrinsics_core.render.citations.places import sentence_start
from intrinsics_core.render.citations.views import Reference
from intrinsics_core.text import stops
from intrinsics_core.text.lines import fenced


def mark_place(response: str, end: int) -> int | None:
    """Where a mark for a claim may stand that ends at ``end``: not within a block of code, where it would be code.

    Args:
        response: the whole answer.
        end: offset in it, in characters.

    Returns:
        The same place; the beginning of the line behind the block; where the answer ends with the block, the end of
        what is said before it. None where there is nothing but code.
    """
    return _mark_place(response, _apart(fenced(response)), end)


def outside_code(response: str, references: Sequence[Reference]) -> list[Reference]:
    """The references with claims that do not end within a block of code, where a mark would be part of the code.

    Such a claim goes on to the line behind the block; where the text ends with the block, what is said before it is
    the claim; where nothing is, the reference is left out.
    """
    blocks, starts = _apart(fenced(response)), stops.starts(response)
    found = []
    for reference in references:
        begin, end = reference.begin or 0, _mark_place(response, blocks, reference.end or 0)
        if end is not None:
            begin = begin if end >= (reference.end or 0) else sentence_start(starts, end)
            found.append(replace(reference, begin=begin, end=end))
    return found


def _mark_place(response: str, blocks: Sequence[tuple[int, int]], end: int) -> int | None:
    place = _behind_code(response, blocks, end)
    if place is None and (said := response[: blocks[-1][0]].rstrip()):  # in the block that the text ends with
        return _behind_code(response, blocks, len(said)) or 0
    return place


def _apart(blocks: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Blocks that follow one another without a line between as one: a mark before a fence would hide it, too."""
    found: list[tuple[int, int]] = []
    for begin, end in blocks:
        begin = found.pop()[0] if found and found[-1][1] == begin else begin
        found.append((begin, end))
    return found


def _behind_code(response: str, blocks: Sequence[tuple[int, int]], end: int) -> int | None:
    """Where a mark may stand for a claim that ends here: here, or on the line behind the code, if any."""
    at = bisect_right(blocks, end, key=lambda block: block[1])  # the first block that ends behind this place
    if at and blocks[at - 1][1] == end:
        return end if _line_ends(response, end) else None
    if at == len(blocks) or end <= blocks[at][0]:
        return end
    return blocks[at][1] if _line_ends(response, blocks[at][1]) else None


def _line_ends(text: str, at: int) -> bool:
    return text[at - 1 : at].splitlines() == [""]
