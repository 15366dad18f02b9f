"""From a reply's groups of answers to the numbers of answers that say the same.

Answers are named by their ids, or by their own texts. One that no group names is alone. A reply with a name that is no
answer's, or with an answer in two groups, is malformed: what it means is not known.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from intrinsics_core.protocol.errors import MalformedReply
from intrinsics_core.protocol.requests import Generated
from intrinsics_core.replies import json_reply
from intrinsics_core.replies.readers import sentence_number

Groups = tuple[tuple[int, ...], ...]  # numbers of answers that say the same, each once, in order of the first


def read(rows: Sequence[Any], answers: Sequence[str], reply: Generated) -> Groups:
    """What the rows group, and every answer that is alone.

    Args:
        answers: the texts of the answers, as the model was shown them.

    Raises:
        MalformedReply: a group is no list; it names what is no answer, or may be two; or no group names any.
    """
    named = [json_reply.field({"group": row}, "group", list, "a list of ids", reply.text) for row in rows]
    by_text = {_plain(answer): number for number, answer in enumerate(answers)}
    ways: tuple[Callable[[Any], int | None], ...] = (
        lambda name: sentence_number(name, "a"),
        lambda name: by_text.get(_plain(name)),
    )
    found = {groups for way in ways if (groups := _grouped(named, way, len(answers)))}
    if len(found) != 1:  # as ids and as texts, "1" may be two answers
        raise MalformedReply("the groups do not name the answers, each once", got=repr(rows), raw=reply.text,
                             expected=f"ids from a0 to a{len(answers) - 1}")  # fmt: skip
    return found.pop()


def _plain(text: Any) -> str:
    return " ".join(str(text).split())


def _grouped(named: Sequence[Sequence[Any]], number_of: Callable[[Any], int | None], count: int) -> Groups | None:
    """The groups and those that are alone, None where a name has no number or a number is in two groups."""
    groups = [{number_of(name) for name in row} for row in named]
    numbers = [number for group in groups for number in group if number is not None and 0 <= number < count]
    alone = set(range(count)).difference(numbers)
    if not numbers or len(alone) + sum(map(len, groups)) != count:
        return None
    whole = [tuple(sorted(number for number in group if number is not None)) for group in groups if group]
    return tuple(sorted([*whole, *((number,) for number in alone)]))
