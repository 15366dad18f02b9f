"""How sure to be that an answer is (or will be) right, from answerability and support.

Before answering, an answer can only be right if the passages hold it: certainty is the probability that the question is
answerable, drawn in from both ends. After answering, it must also be what the passages say: the two are combined as
evidence is, by a weighted mean of their log-odds, and the answer is never surer than its support: that a question can
be answered says nothing for an answer that the passages do not. An answer that claims nothing ("I don't know.") is
right where the passages do not hold one. The weights are set, not fitted.

What this is not: the uncertainty of the model that answered. It never sees that model's probabilities, so a confident
guess and a lucky one look the same, and without passages it knows nothing (0.5). A language model's own
log-probabilities, an uncertainty adapter, or sampled answers compared tell more.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from intrinsics_core.calibration.probabilities import sigmoid
from intrinsics_core.protocol.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class CertaintyWeights:
    """Exponents on the odds of answerability alone (before), and of answerability and support together (after)."""

    before: float = 0.8
    answerability: float = 0.35
    support: float = 0.65


@dataclass(frozen=True, slots=True)
class Certainty:
    """`expected`: probability that the answer is right; `certainty`: the nearest of 0.05, 0.15 … 0.95."""

    certainty: float
    expected: float


def certainty(
    answerability: float | None,
    support: float | None = None,
    *,
    claims: bool = True,
    weights: CertaintyWeights = CertaintyWeights(),
) -> Certainty:
    """Certainty before answering (no support) or after.

    Args:
        answerability: probability that the passages answer the question; None: not known, no passages.
        support: how far the passages support the answer given, 0 to 1; None: not answered yet, or nothing to judge.
        claims: whether the answer claims anything. One that does not has no support, and is the surer, the less
            answerable the question is.
        weights: see `CertaintyWeights`.

    Raises:
        InvalidInput: a number outside 0..1.
    """
    given = {"answerability": answerability, "support": support}
    odds = {name: _log_odds(name, value) for name, value in given.items() if value is not None}
    if support is None:
        margin = weights.before * odds.get("answerability", 0.0) * (1 if claims else -1)
    elif answerability is None:
        margin = weights.support * odds["support"]
    else:
        margin = weights.answerability * odds["answerability"] + weights.support * odds["support"]
    expected = min(float(sigmoid(margin)), 1.0 if support is None else support)
    return Certainty(quantised(expected), expected)


def quantised(probability: float) -> float:
    """The middle of the tenth that a probability falls into: 0.05, 0.15 … 0.95."""
    if not 0.0 <= probability <= 1.0:
        raise InvalidInput("probability is out of range", expected="a number from 0 to 1", got=repr(probability))
    return (2 * min(9, int(probability * 10)) + 1) / 20


def _log_odds(name: str, probability: float) -> float:
    if not 0.0 <= probability <= 1.0:
        raise InvalidInput(f"{name} is not a probability", expected="a number from 0 to 1", got=repr(probability))
    sane = min(max(probability, 0.01), 0.99)  # neither score is ever surer than that
    return math.log(sane / (1.0 - sane))
