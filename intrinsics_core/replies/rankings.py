"""An order of documents as a result: every document once, with its rank and score."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from intrinsics_core.protocol.errors import MalformedReply
from intrinsics_core.protocol.requests import Generated
from intrinsics_core.protocol.results import RankedDocument, Ranking
from intrinsics_core.protocol.task import Task
from intrinsics_core.replies import numbering
from intrinsics_core.replies.readers import sentence_number


def ranking(
    task: Task,
    order: Sequence[int],
    scores: Sequence[float | None] | None = None,
    wins: Sequence[float] | None = None,
    **further: Any,
) -> Ranking:
    """The documents in this order (positions, best first).

    Args:
        scores: by position; left out, the share of the others ranked below: 1 for the first, 0 for the last, 1 for one
            alone.
        wins: won comparisons by position, where there were any.
        further: further fields of the result.
    """
    others = len(order) - 1
    rows = []
    for place, i in enumerate(order):
        below = 1 - place / others if others > 0 else 1.0
        rows.append(
            RankedDocument(
                index=i,
                document_id=task.document_id(i),
                rank=place + 1,
                score=below if scores is None else scores[i],
                wins=None if wins is None else wins[i],
            )
        )
    return Ranking(ranking=tuple(rows), **further)


def read(task: Task, named: Sequence[Any], reply: Generated) -> Ranking:
    """The order in which a reply names documents (``"d3"``, 3, or an object with such an id).

    What it does not name keeps its order after what it does, and is counted as ``missing``; ids that come twice or name
    nothing are dropped.

    Raises:
        MalformedReply: it names none, or counts them from 1.
    """
    count = len(task.documents)
    numbers = [sentence_number(row.get("id") if isinstance(row, dict) else row, "d") for row in named]
    numbering.check(numbers, range(count), reply)
    known = dict.fromkeys(number for number in numbers if number is not None and 0 <= number < count)
    if not known:
        raise MalformedReply("the reply names no document", expected='"d0", "d1", ...', got=repr(named), raw=reply.text)
    order = [*known, *(i for i in range(count) if i not in known)]
    return ranking(task, order, dropped=len(named) - len(known), missing=count - len(known))
