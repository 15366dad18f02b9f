"""The format ``relevance``: how far one document bears on the question, as a logit.

The fact check weighs sources by it. A cross-encoder gives logits as they are; a profile that judges in words or
probabilities gives the logit of its judgement's score. A model that was not trained for it says how sure it is in
numbers that tell its labels apart and no more, so there the label decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from intrinsics_core.calibration.probabilities import logit
from intrinsics_core.protocol.profile import Format
from intrinsics_core.protocol.requests import Reply
from intrinsics_core.protocol.task import Task
from intrinsics_core.replies.readers import RELEVANCE_SCORES

_LABEL = 3.2  # the logit of "relevant", about .96; that of "irrelevant" is as far below an even chance


def of_judgement(judged: Format[Any]) -> Format[float]:
    """The logit of what a ``context-relevance`` format judges of the same document."""

    def parse(task: Task, replies: Sequence[Reply]) -> float:
        return logit(judged.parse(task, replies).score)

    return Format(judged.render, parse)


def of_label(judged: Format[Any]) -> Format[float]:
    """A logit by the label that a ``context-relevance`` format judges; its score orders documents of one label.

    As logits, .99 and .9 are a factor of eleven, and a fact check would not read the second of two relevant documents.
    """

    def parse(task: Task, replies: Sequence[Reply]) -> float:
        found = judged.parse(task, replies)
        usual = RELEVANCE_SCORES[found.label]
        return float(_LABEL * (2 * usual - 1) + found.score - usual)

    return Format(judged.render, parse)
