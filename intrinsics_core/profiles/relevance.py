"""The format ``relevance``: how far one document bears on the question, as a logit.

The fact check weighs sources by it. A cross-encoder gives logits as they are; a profile that judges in words or
probabilities gives the logit of its judgement's score.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from intrinsics_core.calibration.probabilities import logit
from intrinsics_core.protocol.profile import Format
from intrinsics_core.protocol.requests import Reply
from intrinsics_core.protocol.task import Task


def of_judgement(judged: Format[Any]) -> Format[float]:
    """The logit of what a ``context-relevance`` format judges of the same document."""

    def parse(task: Task, replies: Sequence[Reply]) -> float:
        return logit(judged.parse(task, replies).score)

    return Format(judged.render, parse)
