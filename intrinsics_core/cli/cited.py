"""What ``--citations`` writes under ``cited``: a text with its citations in one of the four modes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from intrinsics_core.intrinsics import TABLE
from intrinsics_core.intrinsics.options import record_of
from intrinsics_core.protocol.errors import InvalidInput
from intrinsics_core.protocol.results import Citations, Evaluation, Result
from intrinsics_core.protocol.task import Task
from intrinsics_core.render.citations import Mode, Style, View, as_json, metric_views, view, write
from intrinsics_core.replies.statements import sources

Show = Callable[[Result, Task], Any]

_CITING = (Citations, Evaluation)


def shower(intrinsic: str, mode: Mode, style: Style) -> Show:
    """A function from a result and its task to what is shown: a text, or by metric of an evaluation one each.

    Raises:
        InvalidInput: the intrinsic cites nothing.
    """
    if not issubclass(record_of(intrinsic).result, _CITING):
        known = ", ".join(name for name, record in TABLE.items() if issubclass(record.result, _CITING))
        raise InvalidInput(
            "--citations: the result of this intrinsic has no citations",
            expected=f"one of {known}",
            got=repr(intrinsic),
        )

    def written(shown: View) -> Any:
        return as_json(shown) if style == "json" else write(shown, style)

    def show(result: Result, task: Task) -> Any:
        if isinstance(result, Evaluation):
            return {name: written(each) for name, each in metric_views(result, sources(task), mode).items()}
        assert isinstance(result, Citations)
        return written(view(result, task.last.content, task.documents, mode))

    return show
