"""What a caller set for their own data, for the embedded default, and how its models' replies are taken."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from intrinsics_core.calibration.logits import yes_logits
from intrinsics_core.protocol.errors import InvalidInput
from intrinsics_core.protocol.names import keyed
from intrinsics_core.protocol.requests import Embedded, Program, Reply, Score, ScoreTask
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
    """Thresholds by intrinsic; which intrinsics were calibrated; what there is a reader for; whose encoder it is."""

    thresholds: Mapping[str, Mapping[str, float]]
    calibrated: Collection[str] = ()
    reads: Collection[ScoreTask] = ()
    own_encoder: bool = False

    def unfitted(self, task: Task, name: str, so: str = "no probability") -> str | None:
        """Why a probability would mean nothing: the text is in a language or script that nothing was fitted on.

        Not so where the caller calibrated the intrinsic of this ``name``: that was on their own text. (A part of an
        audit is called for as an audit, so the task does not tell.)
        """
        language = None if name in self.calibrated else _unfitted_language(task)
        return language and f"{so}: the models were fitted on English, and this looks like {language}"

    def note(self, task: Task) -> str | None:
        """The same where the scores stay: whoever ranks or filters by them needs some."""
        return self.unfitted(task, task.intrinsic, "scores mean little")


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
    for name in known:
        what, number = f"thresholds.{name}", "a number from 0 to 1"
        values: Any = known[name]
        if not isinstance(values, Mapping):
            expected = f"{{{', '.join(f'{each!r}: {number}' for each in THRESHOLDS[name])}}}"
            raise InvalidInput(f"{what} is not a mapping", expected=expected, got=repr(values))
        for key, value in keyed(what, values, THRESHOLDS[name]).items():
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
                raise InvalidInput(f"{what}.{key} is out of range", expected=number, got=repr(value))
    return known


def vectors_of(replies: Sequence[Reply]) -> list[Sequence[Any]]:
    """The vectors in the encoder's replies."""
    return [reply.vectors for reply in replies if isinstance(reply, Embedded)]


def read(
    task: Task, pairs: Sequence[Sequence[tuple[str, str]]], as_: ScoreTask = "entailment"
) -> Program[list[list[float]]]:
    """The reader's logits of each group of pairs."""
    asked = list(dict.fromkeys(pair for group in pairs for pair in group))
    if not asked:
        return [[] for _ in pairs]
    (scored,) = yield [Score(task.intrinsic, tuple(asked), as_, own=True)]
    logits = dict(zip(asked, yes_logits([scored]), strict=True))  # type: ignore[list-item]  # only replies are sent in
    return [[logits[pair] for pair in group] for group in pairs]
