"""The fitted numbers of support, with a reader and without, and what they make of evidence: odds and labels."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from importlib import resources
from pathlib import Path
from statistics import fmean
from typing import Any, Literal

import numpy as np

from intrinsics_core.calibration.probabilities import sigmoid
from intrinsics_core.embedded.scoring.citing import CitationRule
from intrinsics_core.embedded.scoring.evidence import FEATURES, Evidence
from intrinsics_core.embedded.scoring.head import SURE, bounded, just_below
from intrinsics_core.protocol.errors import InvalidInput

Label = Literal["faithful", "partial", "unfaithful", "NA"]

ENOUGH = 2.0
"""A reader's logit of a narrow part from which on the widest part is not read, to save time."""

SHOWN = 0.1
"""What the distance of a claim, and its names and numbers that are not found, count where the reader was shown all."""

READ = ("novel_unseen", "novel_names", "novel_numbers", "unpaired_unseen", "distant", "crossed", "assured", "doubted")
"""The columns of a head that reads; see `beside`."""


@dataclass(frozen=True, slots=True)
class SupportHead:
    """The fitted numbers.

    weights: one a column of `evidence.FEATURES`, or of `READ` where the head reads, none negative; with ``bias`` they
    give the log-odds that a sentence is *not* supported. response, for answers with several claims: slope of the
    weakest claims' mean log-odds, weight of the share of the response that is found nowhere, and bias. thresholds:
    ``faithful`` and ``unfaithful``; a probability at or above the first is faithful, below the second unfaithful,
    partial between. They hold for sentences and for responses.
    """

    weights: tuple[float, ...]
    bias: float
    response: tuple[float, float, float]
    thresholds: Mapping[str, float]
    citations: CitationRule
    weakest: int = 2

    def __post_init__(self) -> None:
        if len(self.weights) not in (len(FEATURES), len(READ)):
            raise InvalidInput(f"support head: {len(self.weights)} weights for {len(FEATURES)} features")
        if missing := {"faithful", "unfaithful"} - set(self.thresholds):
            raise InvalidInput(f"support head: thresholds lack {sorted(missing)}")

    @property
    def reads(self) -> bool:
        """Whether it wants a reader's logits."""
        return len(self.weights) > len(FEATURES)

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> SupportHead:
        """Read a head file's content.

        Raises:
            InvalidInput: the file's features are not the ones this code measures, or a part is missing.
        """
        try:
            if tuple(raw["features"]) not in (FEATURES, READ):
                raise InvalidInput(f"support head: the features must be {list(FEATURES)}, but are {raw['features']}")
            own = raw["response"]
            return cls(
                weights=tuple(float(w) for w in raw["weights"]),
                bias=float(raw["bias"]),
                response=(float(own["slope"]), float(own["novel"]), float(own["bias"])),
                weakest=int(own["weakest"]),
                thresholds={str(k): float(v) for k, v in raw["thresholds"].items()},
                citations=CitationRule(**raw["citations"]),
            )
        except (KeyError, TypeError) as error:
            raise InvalidInput(f"support head: missing or malformed part: {error}") from error

    def to_json(self) -> dict[str, Any]:
        """The fitted part of a head file; `from_json` reads it back."""
        slope, novel, bias = self.response
        return {
            "name": "support_read" if self.reads else "support",
            "version": 3,
            "features": list(READ if self.reads else FEATURES),
            "weights": list(self.weights),
            "bias": self.bias,
            "response": {"slope": slope, "novel": novel, "bias": bias, "weakest": self.weakest},
            "thresholds": dict(self.thresholds),
            "citations": asdict(self.citations),
        }

    def odds(self, evidence: Evidence, logit: float | None = None) -> float:
        """Log-odds that a claim is not supported."""
        row = beside(evidence, logit or 0.0) if self.reads else evidence.features
        return float(np.dot(row, self.weights)) + self.bias


def beside(evidence: Evidence, logit: float) -> tuple[float, ...]:
    """The columns `READ`: what is measured, weighed by what a reader saw, and the reader's logit of *supported*.

    Words that are not found, or not together, count by the share of the sources that the reader was not shown: of the
    rest it says itself whether they matter. Names and numbers, and the distance, count a tenth (`SHOWN`) of the rest.
    ``crossed`` is as it is measured: a reader of sentences side by side easily takes one document's fact for another's.
    Words and the distance are squared, as a right paraphrase lacks a few words and so does a wrong one. ``assured`` is
    -.5 where the reader is sure that the claim is supported, and 0 where it doubts. ``doubted`` is .5 where it is sure
    that the claim is not, times the share that it has seen: what it finds is there, what it does not find in a short
    text is not, of many passages it may stand in a sentence that was not shown.
    """
    novel, names, numbers, unpaired, distance = map(float, evidence.features)
    unseen, sure = 1.0 - evidence.seen, bounded(logit) / (2 * SURE)
    doubted = max(-sure, 0.0) * evidence.seen
    own = SHOWN + (1.0 - SHOWN) * unseen
    beyond = novel**2 * unseen, names * own, numbers * own, unpaired**2 * unseen, distance**2 * own
    return *beyond, evidence.crossed, -max(sure, 0.0), doubted


def read_enough(logits: Sequence[float]) -> bool:
    """Whether a narrower part of the sources clearly supports a claim, so that the widest is not read."""
    return max(logits, default=0.0) >= ENOUGH


def of_readings(logits: Sequence[float], seen: float) -> float | None:
    """One logit of what a reader said of a claim beside the parts of its sources that it read; None where it read
    nothing.

    Of sources that it was shown whole each part counts alike: a part that lacks the support is no excuse for one that
    seems to hold it. Of longer ones the best part counts, as the support may stand in it alone.

    Args:
        logits: of each part, that it supports the claim.
        seen: the share of the sources that the parts hold, 0..1.
    """
    return max(logits) * (1.0 - seen) + fmean(logits) * seen if logits else None


@lru_cache(maxsize=2)
def _shipped(name: str) -> SupportHead:
    text = (resources.files("intrinsics_core") / "data" / "heads" / f"{name}.json").read_text("utf-8")
    return SupportHead.from_json(json.loads(text))


def load_head(path: str | Path | None = None, *, reads: bool = False) -> SupportHead:
    """The shipped head, with a reader or without, or one from a JSON file such as `SupportHead.to_json` makes."""
    if path is None:
        return _shipped("support_read" if reads else "support")
    return SupportHead.from_json(json.loads(Path(path).read_text("utf-8")))


def uncovered(claims: Sequence[Evidence], *, read: bool = False) -> float:
    """The share of a whole response's idf mass that is found nowhere, 0..1; where it was ``read``, times the share of
    the sources that the reader was not shown, as in `beside`.
    """
    total = sum(unit.weight for each in claims for unit in each.claim.units)
    missing = sum(unit.weight * (1.0 - each.seen if read else 1.0) for each in claims for unit in each.missing)
    return missing / total if total else 0.0


def response_odds(odds: Sequence[float], novel: float, head: SupportHead) -> float:
    """Log-odds that a response with several claims is not faithful.

    Args:
        odds: of each claim, that it is not supported.
        novel: the share of the response that is found nowhere.
    """
    slope, weight, bias = head.response
    return slope * float(np.mean(sorted(odds, reverse=True)[: head.weakest])) + weight * novel + bias


def response_probability(claims: Sequence[float], odds: Sequence[float], novel: float, head: SupportHead) -> float:
    """The probability, 0..1, that a response is faithful.

    Of one claim it is the claim's own. Of several it is a fitted logistic of the ``head.weakest`` least supported
    claims' mean log-odds and of the share that is found nowhere. It is below the ``unfaithful`` threshold where a claim
    is, and not below it where none is; it is below the ``faithful`` threshold where all claims are: the label that is
    read from it agrees with those of the claims.

    Args:
        claims: of each sentence that claims something, at least one, the probability that it is supported.
        odds: of each of them, the log-odds that it is not supported.
        novel: the share of the response that is found nowhere.
    """
    if len(claims) == 1:
        return claims[0]
    probability = float(sigmoid(-response_odds(odds, novel, head)))
    limit, enough = head.thresholds["unfaithful"], head.thresholds["faithful"]
    if max(claims) < enough:
        probability = min(probability, just_below(enough))
    return min(probability, just_below(limit)) if min(claims) < limit else max(probability, limit)


def label_of(probability: float, thresholds: Mapping[str, float]) -> Label:
    """The label of a claim or a response, by the ``faithful`` and ``unfaithful`` thresholds."""
    if probability >= thresholds["faithful"]:
        return "faithful"
    return "unfaithful" if probability < thresholds["unfaithful"] else "partial"
