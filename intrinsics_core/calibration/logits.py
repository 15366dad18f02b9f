"""How scores of pairs are understood: replies of cross-encoders and NLI models, which are numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from numbers import Real
from typing import Any

from intrinsics_core.calibration.probabilities import log_odds
from intrinsics_core.protocol.errors import MalformedReply
from intrinsics_core.protocol.requests import Reply, Scored

YES = ("yes", "entailment")


def yes_logits(replies: Sequence[Reply]) -> list[float]:
    """The logit of "yes" for each pair, of all replies that are scores.

    Raises:
        MalformedReply: no label says yes, a pair has not one number for each label, or a number is NaN or infinite.
    """
    found: list[float] = []
    for reply in replies:
        if not isinstance(reply, Scored):
            continue
        yes = next((i for i, label in enumerate(reply.labels) if label in YES), None)
        if yes is None:
            raise MalformedReply(
                "none of the labels beside the scores is known",
                expected=f"one that is {' or '.join(YES)}",
                got=repr(reply.labels),
            )
        for row in reply.logits:
            if len(row) != len(reply.labels):
                raise MalformedReply("a pair does not have one score for each label", expected=repr(reply.labels),
                                     got=repr(row))  # fmt: skip
            found.append(log_odds(finite(row, "a pair has scores"), yes))
    return found


def finite(numbers: Iterable[Any], what: str) -> list[float]:
    """The numbers as floats.

    Args:
        what: what has them, and what they are, for the error: ``"a pair has scores"``.

    Raises:
        MalformedReply: one is NaN, infinite or no number.
    """
    found = []
    for number in numbers:
        if isinstance(number, bool) or not isinstance(number, Real) or not math.isfinite(number):
            raise MalformedReply(f"{what} that are not finite numbers", expected="finite numbers", got=repr(number))
        found.append(float(number))
    return found
