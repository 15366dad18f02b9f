"""An order of documents as a result, with ranks and scores; and groups of answers that say the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from intrinsics_core.protocol.requests import Generated
from intrinsics_core.protocol.results import RankedDocument, Ranking
from intrinsics_core.protocol.task import Task
from intrinsics_core.replies import json_reply, sentence_ids
from intrinsics_core.replies.json_reply import malformed
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
    others = max(1, len(order) - 1)
    rows = (
        RankedDocument(
            index=i,
            document_id=task.document_id(i),
            rank=place + 1,
            score=1 - place / others if scores is None else scores[i],
            wins=None if wins is None else wins[i],
        )
        for place, i in enumerate(order)
    )
    return Ranking(ranking=tuple(rows), **further)


def read(task: Task, named: Sequence[Any], reply: Generated) -> Ranking:
    """The order in which a reply names documents (``"d3"``, 3, or an object with such an id).

    What it does not name keeps its order after what it does, and is counted as ``missing``; ids that come twice or name
    nothing are dropped. A reply that names none, or counts them from 1, is malformed.
    """
    count = len(task.documents)
    numbers = [sentence_number(row.get("id") if isinstance(row, dict) else row, "d") for row in named]
    sentence_ids.check_numbers(numbers, range(count), reply)
    known = dict.fromkeys(number for number in numbers if number is not None and 0 <= number < count)
    if not known:
        raise malformed("the reply names no document", reply.text, '"d0", "d1", ...', named)
    order = [*known, *(i for i in range(count) if i not in known)]
    return ranking(task, order, dropped=len(named) - len(known), missing=count - len(known))


# --- groups -----------------------------------------------------------------------------------------------------------


Groups = tuple[tuple[int, ...], ...]  # numbers of answers that say the same, each once, in order of the first


def read_groups(rows: Sequence[Any], count: int, reply: Generated) -> Groups:
    """What the rows group, of so many answers, and every answer that is alone.

    A group that is no list, names what is no answer, or shares an answer is malformed. So are groups that name none.
    A number alone may be an answer itself, and is no name.
    """
    named = [json_reply.field({"group": row}, "group", list, "a list of ids", reply.text) for row in rows]
    groups = [{sentence_number(name, "a") if "a" in str(name).lower() else None for name in row} for row in named]
    numbers = [number for group in groups for number in group if number is not None and 0 <= number < count]
    alone = set(range(count)).difference(numbers)
    if not numbers or len(alone) + sum(map(len, groups)) != count:
        raise malformed("the groups do not name the answers, each once", reply.text, f"ids from a0 to a{count - 1}",
                        rows)  # fmt: skip
    whole = [tuple(sorted(number for number in group if number is not None)) for group in groups if group]
    return tuple(sorted([*whole, *((number,) for number in alone)]))
