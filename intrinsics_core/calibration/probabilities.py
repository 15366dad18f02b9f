"""Between logits and probabilities, in float64, without overflow. Works on floats and on numpy arrays alike."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from intrinsics_core.protocol.errors import InvalidInput

CERTAIN = 36.0  # the logit beyond which float64 knows no difference to 1


def sigmoid(x: Any) -> Any:
    """1 / (1 + exp(-x)): a float for a number, an array for an array."""
    if isinstance(x, int | float):
        return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))
    import numpy as np

    return np.exp(-np.logaddexp(0.0, -np.asarray(x, np.float64)))


def logit(p: float) -> float:
    """The inverse of :func:`sigmoid`, within ±:data:`CERTAIN`.

    Args:
        p: a probability, 0..1.
    """
    if p <= 0 or p >= 1:
        return CERTAIN if p >= 1 else -CERTAIN
    return min(CERTAIN, max(-CERTAIN, math.log(p) - math.log1p(-p)))


def softmax(logits: Sequence[float]) -> list[float]:
    """Probabilities in proportion to exp(logit), summing to 1; none for none."""
    if not logits:
        return []
    top = max(logits)
    powers = [math.exp(x - top) for x in logits]
    return [power / math.fsum(powers) for power in powers]


def log_odds(logits: Sequence[float], yes: int) -> float:
    """The logit of one label's softmax probability; of a single logit that logit itself.

    ``sigmoid`` of it is the probability. It still tells apart what a probability rounds to 1.
    """
    others = [x for i, x in enumerate(logits) if i != yes]
    if not others:
        return logits[yes]
    top = max(others)
    return logits[yes] - top - math.log(math.fsum(math.exp(x - top) for x in others))


def tenth(probability: float) -> float:
    """The middle of the tenth that a probability falls into: .05, .15 … .95.

    Raises:
        InvalidInput: it is no probability.
    """
    if not 0 <= probability <= 1:
        raise InvalidInput("probability is not one", expected="a number from 0 to 1", got=repr(probability))
    return (2 * min(9, int(probability * 10)) + 1) / 20
