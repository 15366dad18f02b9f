"""Formats whose reply is the text itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from intrinsics_core.protocol.profile import Format
from intrinsics_core.protocol.requests import Generate
from intrinsics_core.protocol.task import Task
from intrinsics_core.replies import readers, writers

Render = Callable[[Task], Sequence[Generate]]


def whole(render: Render) -> Format[str]:
    """All of the reply is the text."""
    return Format(
        render,
        lambda task, replies: readers.free_text(readers.generated(replies)),
        lambda task, value: writers.free_text(value),
    )


def one_query(render: Render, stop: Sequence[str] = ()) -> Format[str]:
    """The first line of the reply that holds words is a query; ``stop`` are texts at which the reply ends."""
    return Format(
        render,
        lambda task, replies: readers.first_query(readers.generated(replies)),
        lambda task, value: writers.first_query(value, stop),
    )
