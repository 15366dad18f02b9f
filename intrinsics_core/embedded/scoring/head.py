"""A linear head: a fitted logistic regression over a few named numbers, read from a shipped JSON file."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources

from intrinsics_core.calibration.probabilities import sigmoid
from intrinsics_core.protocol.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class LinearHead:
    """``weights`` by feature, ``bias``, and thresholds on the probability by name."""

    features: tuple[str, ...]
    weights: tuple[float, ...]
    bias: float
    thresholds: Mapping[str, float]

    @classmethod
    def from_json(cls, text: str, features: Sequence[str] | None = None) -> LinearHead:
        """Read a head as `training` writes it.

        Args:
            features: what the code measures, in order; None: whatever the file names.

        Raises:
            InvalidInput: the file is of other features, or has not one weight for each.
        """
        raw = json.loads(text)
        named = tuple(raw["features"])
        if named != tuple(features or named) or len(raw["weights"]) != len(named):
            raise InvalidInput(
                "the head was fitted on other features", expected=str(list(features or named)), got=str(list(named))
            )
        thresholds = {key: float(value) for key, value in raw["thresholds"].items()}
        return cls(named, tuple(map(float, raw["weights"])), float(raw["bias"]), thresholds)

    def logit(self, values: Sequence[float]) -> float:
        """Log-odds of one row of feature values, in the order of ``features``."""
        return self.bias + sum(w * v for w, v in zip(self.weights, values, strict=True))

    def probability(self, values: Sequence[float]) -> float:
        """Probability of one row of feature values."""
        return float(sigmoid(self.logit(values)))


@lru_cache(maxsize=8)
def load_head(name: str, features: tuple[str, ...] | None = None) -> LinearHead:
    """The shipped head ``data/heads/<name>.json``, read once."""
    path = resources.files("intrinsics_core") / "data" / "heads" / f"{name}.json"
    return LinearHead.from_json(path.read_text("utf-8"), features)


SURE = 6.0
"""A reader's logit from which on it is as sure as it gets."""


def bounded(logit: float) -> float:
    """A reader's logit between -`SURE` and `SURE`, as the heads take it."""
    return min(max(logit, -SURE), SURE)


def just_below(threshold: float) -> float:
    """A thousandth below a threshold, not below 0."""
    return max(0.0, threshold - 0.001)
