"""Formats that several profiles share: replies that are the text itself, and ``relevance``, made of another format.

``relevance`` says as a logit how far one document bears on the question: the fact check weighs sources by it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from intrinsics_core.calibration.probabilities import logit
from intrinsics_core.protocol.profile import Format
from intrinsics_core.protocol.requests import Generate, Reply
from intrinsics_core.protocol.task import Task
from intrinsics_core.replies import readers, writers

Render = Callable[[Task], Sequence[Generate]]
_LABEL = 3.2  # the logit of "relevant", about .96; that of "irrelevant" is as far below an even chance


def whole_text(render: Render) -> Format[str]:
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


def logit_of_score(judged: Format[Any]) -> Format[float]:
    """The logit of the score that a ``context-relevance`` format gives, of a model that was trained for it."""
    return Format(judged.render, lambda task, replies: logit(judged.parse(task, replies).score))


def logit_of_label(judged: Format[Any]) -> Format[float]:
    """A logit by the label that a ``context-relevance`` format gives; its score orders documents of one label.

    A model that was not trained for it says how sure it is in numbers that tell its labels apart and no more. As
    logits, .99 and .9 are a factor of eleven: a fact check would not read the second of two relevant documents.
    """

    def parse(task: Task, replies: Sequence[Reply]) -> float:
        found = judged.parse(task, replies)
        usual = readers.RELEVANCE_SCORES[found.label]
        return float(_LABEL * (2 * usual - 1) + found.score - usual)

    return Format(judged.render, parse)
