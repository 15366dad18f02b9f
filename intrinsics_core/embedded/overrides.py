"""What a caller set for their own data, for the embedded default."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from intrinsics_core.protocol.errors import InvalidInput
from intrinsics_core.protocol.names import keyed
from intrinsics_core.protocol.requests import ScoreTask
from intrinsics_core.protocol.task import Task
from intrinsics_core.text.scripts import LOOKED_AT, unfitted_language

# Names of the thresholds that a caller may set, each in 0..1; calibrating sets them too.
THRESHOLDS = {
    "context-relevance": ("relevant", "partial"),
    "answerability": ("answerable",),
    "hallucination-detection": ("faithful", "unfaithful"),
}


@dataclass(frozen=True)
class Overrides:
    """What a caller set for their own data: thresholds by intrinsic, and which intrinsics were calibrated on it; the
    tasks that there is a reader for; and whether the encoder is their own.
    """

    thresholds: Mapping[str, Mapping[str, float]]
    calibrated: Collection[str] = ()
    reads: Collection[ScoreTask] = ()
    own_encoder: bool = False

    def unfitted(self, task: Task, name: str) -> str | None:
        """Why a probability would mean nothing: the text is in a language or script that nothing was fitted on.

        Not so where the caller calibrated the intrinsic: that was on their own text.
        """
        # By the format: a part of an audit is called for as an audit.
        language = None if name in self.calibrated else _unfitted_language(task)
        return language and f"no probability: the models were fitted on English, and this looks like {language}"

    def note(self, task: Task) -> str | None:
        """The same where the score stays: whoever ranks or filters by it needs one."""
        language = None if task.intrinsic in self.calibrated else _unfitted_language(task)
        return language and f"scores mean little: the models were fitted on English, and this looks like {language}"


def _unfitted_language(task: Task) -> str | None:
    """The language of the question and the answer where it is not English, else that of the documents together."""
    part = LOOKED_AT // max(1, len(task.documents))
    texts = (f"{task.query} {task.response}", "\n".join(document.text[:part] for document in task.documents))
    return next(filter(None, map(unfitted_language, texts)), None)


def checked_thresholds(given: Mapping[str, Mapping[str, float]]) -> dict[str, Mapping[str, float]]:
    """The thresholds by intrinsic and name.

    Raises:
        InvalidInput: one is of an intrinsic that has none, or is out of range.
    """
    known = keyed("thresholds", given, THRESHOLDS)
    for name, values in known.items():
        _check_thresholds(f"thresholds.{name}", values, THRESHOLDS[name])
    return known


def _check_thresholds(what: str, values: Any, names: Sequence[str]) -> None:
    if not isinstance(values, Mapping):
        expected = f"{{{', '.join(f'{name!r}: a number from 0 to 1' for name in names)}}}"
        raise InvalidInput(f"{what} is not a mapping", expected=expected, got=repr(values))
    for key, value in keyed(what, values, names).items():
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
            raise InvalidInput(f"{what}.{key} is out of range", expected="a number from 0 to 1", got=repr(value))
