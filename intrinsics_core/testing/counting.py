"""What an answer counts for in the mean faithfulness, and why it counts 0 or not at all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from intrinsics_core.chains.policy import NO_SOURCE, require_whole
from intrinsics_core.intrinsics import hallucination_detection
from intrinsics_core.intrinsics.calling import NO_TEXT, NOTHING_RETRIEVED, NOTHING_SAID, Messages
from intrinsics_core.protocol.call import Call
from intrinsics_core.protocol.errors import IntrinsicsError
from intrinsics_core.protocol.results import HallucinationDetection
from intrinsics_core.running.execution import ProfileLike, RuntimeLike, run_many

NO_CLAIM = "no claim"


@dataclass(frozen=True)
class Count:
    """A value from 0 to 1, or None for an answer that is left out; ``why`` says what made it 0 or left it out."""

    value: float | None
    why: str | None = None


def counts(
    judged: Sequence[tuple[Messages, HallucinationDetection]], runtime: RuntimeLike, profile: ProfileLike = None
) -> list[Count | IntrinsicsError]:
    """What each answer counts for.

    An answer counts the score of its verdict. An answer without words counts 0. An answer that claims something counts
    0 if no document has text. An answer that claims nothing is left out, with documents or without, and so is an answer
    that the judge has no probability of.

    Args:
        judged: conversations that end with an answer, each with its verdict.
        runtime: what gave the verdicts; it is asked again what claims something, where there are no documents.
        profile: a profile or its name; the runtime's own where left out.

    Returns:
        One count for each verdict, in order, or the error that there is in its place.
    """
    bare = [i for i, (_, verdict) in enumerate(judged) if verdict.reason in (NOTHING_RETRIEVED, NO_TEXT)]
    calls: list[Call[Any]] = [hallucination_detection(judged[i][0], [NO_SOURCE]) for i in bare]
    again: dict[int, Any] = dict(zip(bare, run_many(calls, runtime, profile=profile), strict=True))
    return [_count(verdict, again.get(i)) for i, (_, verdict) in enumerate(judged)]


def _count(
    verdict: HallucinationDetection, unsourced: HallucinationDetection | IntrinsicsError | None
) -> Count | IntrinsicsError:
    """``unsourced`` is the verdict by a document that supports nothing, where the others have no text."""
    if verdict.score is not None:
        return Count(verdict.score)
    if verdict.reason == NOTHING_SAID:
        return Count(0.0, NOTHING_SAID)
    if isinstance(unsourced, IntrinsicsError):
        return unsourced
    try:
        require_whole(unsourced or verdict)
    except IntrinsicsError as error:
        return error
    if unsourced is not None and unsourced.score is not None:
        return Count(0.0, verdict.reason)
    # Without a score there is no claim, or none that the judge has a probability of.
    return Count(None, (unsourced or verdict).degraded or NO_CLAIM)
