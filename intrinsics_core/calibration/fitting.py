"""Turn scores into probabilities that hold on somebody's own data, and measure whether they do.

A score that ranks well on one collection is rarely a probability on the next: thresholds do not transfer between data
sets. With some tens of labelled examples of one's own, `calibrate` fits two numbers (Platt 1999, with the smoothed
targets and Newton's method of Lin, Lin & Weng 2007) and picks a threshold.

What this is not: a way to make a score rank better. A monotone map leaves AUROC as it is; where that is near .5 no
calibration helps, and a better scorer (a cross-encoder, an adapter, a language model) is needed.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from intrinsics_core.calibration.probabilities import sigmoid
from intrinsics_core.calibration.promises import ExampleData, Promise, allowed_errors, examples_needed, percent
from intrinsics_core.protocol.errors import InvalidInput

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Objective = Literal["weighted_f1", "f1", "accuracy"]

_LEAST = 10  # examples; below it, two numbers and a threshold are noise
_LOST, _ACCEPTED = 0.1, 0.2  # shares of the true examples below a band, and of the false ones above it


@dataclass(frozen=True, slots=True)
class Bin:
    """One row of a reliability table: predictions in (low, high], how many, their mean, and the share that was true."""

    low: float
    high: float
    count: int
    predicted: float
    observed: float


@dataclass(frozen=True, slots=True)
class Quality:
    """How good scores are: AUROC, expected calibration error (10 bins), Brier score, and the reliability table.

    ECE, Brier and the table are None where scores are not in 0..1.
    """

    auroc: float
    ece: float | None
    brier: float | None
    table: tuple[Bin, ...] | None


@dataclass(frozen=True, slots=True)
class Calibration:
    """Probability of a score: `1 / (1 + exp(-(slope * score + intercept)))`; true from `threshold` on.

    Attributes:
        slope, intercept: of the logistic curve over raw scores.
        threshold: on the calibrated probability, best by `objective` on the examples.
        objective: what the threshold maximises; `objective_value` is what it reached there (optimistic: same data).
        band: probabilities, the threshold among them, between which a verdict is `unsure`: at most a tenth of the true
            examples lie below, a fifth of the false ones above. None: the file does not say.
        examples, positives: how many the fit saw.
        before, after: quality of the raw scores and of the probabilities, on the same examples.
        promise: what the threshold promises on further data; None where it was fitted to an objective.
        intrinsic: whose scores it is fitted to; None where that is not known.
    """

    slope: float
    intercept: float
    threshold: float
    objective: str
    objective_value: float
    examples: int
    positives: int
    before: Quality
    after: Quality
    band: tuple[float, float] | None = None
    promise: Promise | None = None
    intrinsic: str | None = None

    def __post_init__(self) -> None:
        if self.promise is not None and self.promise.threshold != self.threshold:
            raise InvalidInput("the promise was made for another threshold", expected=str(self.promise.threshold),
                               got=str(self.threshold))  # fmt: skip

    def apply(self, score: float) -> float:
        """Probability, 0 to 1. Raises InvalidInput on NaN."""
        if math.isnan(score):
            raise InvalidInput("the score to calibrate is not a number", expected="a number", got="NaN")
        return float(sigmoid(float(self.slope * score + self.intercept)))

    def decide(self, score: float) -> bool:
        """Whether the calibrated probability reaches the threshold."""
        return self.apply(score) >= self.threshold

    def unsure(self, probability: float) -> bool:
        """Whether a calibrated probability lies in the band."""
        return self.band is not None and self.band[0] <= probability < self.band[1]

    def to_json(self) -> str:
        """Plain JSON, for a file next to the application."""
        return json.dumps(asdict(self), indent=2)

    @classmethod
    def from_json(cls, text: str) -> Calibration:
        """Read what `to_json` wrote. Raises InvalidInput where it is not that."""
        try:
            raw = json.loads(text)
            for side in ("before", "after"):
                table = raw[side].pop("table")
                raw[side] = Quality(**raw[side], table=None if table is None else tuple(Bin(**b) for b in table))
            if (promised := raw.get("promise")) is not None:
                raw["promise"] = _promise(promised)
            found = cls(**raw)
            if found.band is not None:
                low, high = found.band
                if not 0 <= low <= found.threshold <= high < 1.001:
                    raise ValueError("the band must lie between 0 and 1 and contain the threshold")
                found = replace(found, band=(low, high))
            numbers = (found.slope, found.intercept, found.threshold, *(found.band or ()))
            if not all(isinstance(n, int | float) and not isinstance(n, bool) and math.isfinite(n) for n in numbers):
                raise TypeError("slope, intercept and threshold (and a band) must be finite numbers")
            if not isinstance(found.intrinsic, str | None):
                raise TypeError("intrinsic must be a name")
            if found.slope < 0 or not 0 <= found.threshold <= 1:
                raise ValueError("the slope must not be negative, and the threshold must lie between 0 and 1")
        except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError) as error:
            why = f"the key {error} is missing" if isinstance(error, KeyError) else str(error)[:200]
            expected = "what calibrate(..., path=...) or intrinsics calibrate wrote"
            raise InvalidInput(f"not a saved calibration: {why}", expected=expected) from error
        return found


def calibrate(
    scores: Sequence[float],
    labels: Sequence[bool | int],
    *,
    objective: Objective | Callable[[Bools, Bools], float] = "weighted_f1",
    false_acceptance: float | None = None,
    at_most: float | None = None,
    confidence: float | None = None,
    data: ExampleData | None = None,
) -> Calibration:
    """Fit a calibration on labelled examples.

    Args:
        scores: any finite numbers, higher for more likely true.
        labels: for each whether it was true.
        objective: what the threshold maximises: a name, or a function of (labels, predictions), larger is better.
        false_acceptance: in place of an objective, the largest share of the false examples, 0..1, that may reach the
            threshold; the lowest such one is taken, and ``objective_value`` is the share of the true examples that
            reach it. It is counted on these very examples and promises nothing about others: see ``at_most``.
        at_most, confidence: in place of both, the lowest threshold that false examples of *further* data reach at most
            at this rate, with this confidence (0.9 where left out); both above 0 and below 1. ``promise`` says what it
            rests on, `intrinsics_core.calibration.promises` by which method (Angelopoulos et al. 2021, *Learn then
            Test*; the exact binomial tail of Clopper & Pearson 1934).
        data: what the promise says of where the examples came from.

    Returns:
        The fitted calibration, with its threshold, its quality before and after, and its promise if one was asked for.

    Raises:
        InvalidInput: lengths differ, fewer than 10 examples, one class only, a score that is not finite, a label that
            is not 0 or 1, true examples that have the lower scores, an unknown objective, a rate outside 0..1, a rate
            that so few examples cannot promise (the message says how many it takes) or that no true example would pass.
    """
    x, y = _checked(scores, labels)
    if callable(objective):
        name, value_of = getattr(objective, "__name__", "custom"), objective
    elif objective in _OBJECTIVES:
        name, value_of = objective, _OBJECTIVES[objective]
    else:
        raise InvalidInput(
            "objective is unknown", expected=f"a function or one of {sorted(_OBJECTIVES)}", got=repr(objective)
        )
    if at_most is None and confidence is not None:
        raise InvalidInput("confidence requires at_most", expected="both, or neither")
    if at_most is not None and false_acceptance is not None:
        raise InvalidInput("at_most and false_acceptance cannot be given together", expected="one of them")
    slope, intercept = _platt(x, y)
    if slope < 0 and at_most is None:
        raise InvalidInput("the examples labelled true have the lower scores: are the labels the wrong way round?",
                           expected="scores that are higher for the examples labelled true",
                           got=f"an AUROC of {auroc(x, y):.2f}")  # fmt: skip
    # In the very numbers that `Calibration.apply` gives: a threshold or the edge of a band is often one of them.
    p = np.array([float(sigmoid(slope * score + intercept)) for score in x.tolist()])
    promise = None
    if at_most is not None:
        promise = _promised(slope, p, y, at_most, 0.9 if confidence is None else confidence, data)
        name, threshold = f"false acceptance {promise}", promise.threshold
        value = float(np.mean(p[y] >= threshold))
    elif false_acceptance is None:
        threshold, value = _best_threshold(p, y, value_of)
    else:
        name = f"false acceptance at most {false_acceptance:g}"
        threshold = _threshold_with(_allowed(false_acceptance, int((~y).sum())), p, y)
        if threshold > 1:
            raise InvalidInput(f"no threshold has a {name}", expected="false examples with scores less extreme")
        value = float(np.mean(p[y] >= threshold))
    return Calibration(
        slope, intercept, threshold, name, value, len(x), int(y.sum()), before=quality(x, y), after=quality(p, y),
        band=_band(threshold, p, y), promise=promise,
    )  # fmt: skip


def quality(scores: Sequence[float] | Floats, labels: Sequence[bool | int] | Bools, *, bins: int = 10) -> Quality:
    """AUROC, ECE, Brier score and reliability table of scores against labels (both classes present).

    Args:
        scores: finite numbers, one for each example, higher for more likely true.
        labels: for each score whether the example is true.
        bins: number of bins of the reliability table.

    Returns:
        AUROC, ECE and Brier score, each 0 to 1, and the reliability table. Where a score is outside 0 to 1, all but
        AUROC are None.
    """
    p, y = np.asarray(scores, np.float64), np.asarray(labels, bool)
    if p.min(initial=0.0) < 0 or p.max(initial=0.0) > 1:
        return Quality(auroc(p, y), None, None, None)
    table = reliability(p, y, bins=bins)
    return Quality(auroc(p, y), ece(table), float(np.mean((p - y) ** 2)), table)


def auroc(scores: Sequence[float] | Floats, labels: Sequence[bool | int] | Bools) -> float:
    """Probability that a true example outscores a false one, ties counting half. NaN-free: 0.5 with one class only."""
    s, y = np.asarray(scores, np.float64), np.asarray(labels, bool)
    positives, negatives = int(y.sum()), int((~y).sum())
    if not positives or not negatives:
        return 0.5
    _, inverse, counts = np.unique(s, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[inverse]
    return float((ranks[y].sum() - positives * (positives + 1) / 2) / (positives * negatives))


def reliability(
    probabilities: Sequence[float] | Floats, labels: Sequence[bool | int] | Bools, *, bins: int = 10
) -> tuple[Bin, ...]:
    """Bins of equal width over 0..1, closed above as scikit-learn's are; 0 is in the first; empty ones left out.

    Args:
        probabilities: numbers from 0 to 1, one for each example.
        labels: for each probability whether the example is true.
        bins: number of bins of equal width.

    Returns:
        The bins that hold an example, from low to high.
    """
    p, y = np.asarray(probabilities, np.float64), np.asarray(labels, np.float64)
    place = np.searchsorted(np.linspace(0, 1, bins + 1)[1:-1], p)
    return tuple(
        Bin(k / bins, (k + 1) / bins, int(here.sum()), float(p[here].mean()), float(y[here].mean()))
        for k in range(bins)
        if (here := place == k).any()
    )


def ece(table: Sequence[Bin]) -> float:
    """Expected calibration error: how far predictions are off in a bin, on average over the examples in a table."""
    return sum(b.count * abs(b.predicted - b.observed) for b in table) / sum(b.count for b in table)


def f1(labels: Bools, predictions: Bools) -> float:
    """F1 of the true class; 0 where there is nothing to find and nothing was found."""
    hits = int((labels & predictions).sum())
    whole = int(labels.sum()) + int(predictions.sum())
    return 2 * hits / whole if whole else 0.0


def weighted_f1(labels: Bools, predictions: Bools) -> float:
    """Mean of both classes' F1, each weighted by how often the class occurs."""
    share = float(np.mean(labels))
    return share * f1(labels, predictions) + (1 - share) * f1(~labels, ~predictions)


def _accuracy(labels: Bools, predictions: Bools) -> float:
    return float(np.mean(labels == predictions))


_OBJECTIVES: dict[str, Callable[[Bools, Bools], float]] = {
    "weighted_f1": weighted_f1,
    "f1": f1,
    "accuracy": _accuracy,
}


def _checked(scores: Sequence[float], labels: Sequence[bool | int]) -> tuple[Floats, Bools]:
    if len(scores) != len(labels):
        raise InvalidInput(
            "there must be one label for each score", got=f"{len(scores)} scores and {len(labels)} labels"
        )
    if len(scores) < _LEAST:
        raise InvalidInput(
            "there are too few examples to calibrate on", expected=f"at least {_LEAST}", got=str(len(scores))
        )
    wrong = next((label for label in labels if label not in (0, 1)), None)
    if wrong is not None:
        raise InvalidInput(
            "the label of an example is neither true nor false", expected="True or False", got=repr(wrong)
        )
    try:
        x = np.asarray(scores, np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInput("the scores to calibrate are not numbers", expected="numbers", got=str(error)) from error
    if x.ndim != 1 or not np.isfinite(x).all():
        bad = [i for i, v in enumerate(x) if not np.isfinite(v).all()][:3]
        raise InvalidInput(
            "the scores to calibrate are not all finite", expected="finite numbers", got=f"not finite at {bad}"
        )
    y = np.asarray(labels, bool)
    if y.all() or not y.any():
        raise InvalidInput("all labels to calibrate on are the same", expected="both classes", got=f"only {bool(y[0])}")
    return x, y


def _platt(x: Floats, y: Bools) -> tuple[float, float]:
    """Newton's method with backtracking on the log loss; smoothed targets keep separable data finite."""
    positives, negatives = int(y.sum()), int((~y).sum())
    target = np.where(y, (positives + 1) / (positives + 2), 1 / (negatives + 2))
    # Scores may live in a sliver of the line (cosines .30 to .35): work in standard units, convert back at the end.
    mean, spread = float(x.mean()), float(x.std()) if x.min() < x.max() else math.inf
    design = np.stack([(x - mean) / spread, np.ones_like(x)], 1)
    w = np.array([0.0, math.log((positives + 1) / (negatives + 1))])

    def loss(w: Floats) -> float:
        margin = design @ w
        return float((np.logaddexp(0.0, margin) - target * margin).sum())

    value = loss(w)
    for _ in range(100):
        p = sigmoid(design @ w)
        gradient = design.T @ (p - target)
        hessian = design.T @ (design * (p * (1 - p))[:, None]) + 1e-10 * np.eye(2)
        step = np.linalg.solve(hessian, gradient)
        size = 1.0
        while size > 1e-8 and loss(w - size * step) > value - 1e-4 * size * float(gradient @ step):
            size /= 2
        if size <= 1e-8 or np.abs(gradient).max() < 1e-9:
            break
        w = w - size * step
        value = loss(w)
    slope = float(w[0]) / spread
    return slope, float(w[1]) - slope * mean


def _best_threshold(p: Floats, y: Bools, value_of: Callable[[Bools, Bools], float]) -> tuple[float, float]:
    """Among midpoints between neighbouring probabilities (at most 200), the best; the middle one of equals."""
    distinct = np.unique(p)
    cuts = (distinct[1:] + distinct[:-1]) / 2 if len(distinct) > 1 else distinct
    if len(cuts) > 200:
        cuts = cuts[np.linspace(0, len(cuts) - 1, 200).astype(int)]
    values = np.array([value_of(y, p >= cut) for cut in cuts])
    best = np.flatnonzero(values >= values.max() - 1e-12)
    chosen = int(best[len(best) // 2])
    return float(cuts[chosen]), float(values[chosen])


def _band(threshold: float, p: Floats, y: Bools) -> tuple[float, float]:
    """Where the verdict is open."""
    low = float(np.quantile(p[y], _LOST, method="lower"))
    high = float(np.nextafter(np.quantile(p[~y], 1 - _ACCEPTED, method="higher"), 2.0))
    return min(low, threshold), max(high, threshold)


def _allowed(rate: float, wrong: int) -> int:
    """How many of so many false examples are at most this share of them."""
    if isinstance(rate, bool) or not isinstance(rate, int | float) or not 0 <= rate <= 1:
        raise InvalidInput("false_acceptance is out of range", expected="a share from 0 to 1", got=repr(rate))
    return math.floor(rate * wrong + 1e-9)


def _threshold_with(errors: int, p: Floats, y: Bools) -> float:
    """The lowest threshold that at most so many of the false examples reach; above 1 where they lie at 1."""
    wrong = np.sort(p[~y])[::-1]
    if errors >= len(wrong):
        return 0.0
    worst = float(wrong[errors])  # the first that must stay below
    above = p[p > worst]
    if not len(above):
        return math.nextafter(worst, 2.0)
    middle = (worst + float(above.min())) / 2
    return middle if middle > worst else float(above.min())


def _promised(slope: float, p: Floats, y: Bools, rate: float, confidence: float, data: ExampleData | None) -> Promise:
    """The lowest threshold that keeps a rate on further data: see `intrinsics_core.calibration.promises`.

    Raises:
        InvalidInput: it takes more examples, or scores that rank better.
    """
    wrong = p[~y]
    known = f"cannot be promised with {len(wrong)} negative examples"
    allowed = allowed_errors(len(wrong), rate, confidence)
    asked = f"at_most {percent(rate)} with {percent(confidence)} confidence"
    if allowed is None:
        raise InvalidInput(f"{asked} {known}; {examples_needed(0, rate, confidence)} without an error are needed")
    if slope <= 0:
        raise InvalidInput(f"{asked} cannot be promised, because the true examples do not have the higher scores")
    threshold = _threshold_with(allowed, p, y)
    if not (p[y] >= threshold).any():
        errors = int((wrong >= p[y].max()).sum())
        raise InvalidInput(f"{asked} {known}, {errors} of which score no less than the best true one; "
                           f"{examples_needed(errors, rate, confidence)} with no more of them are needed")  # fmt: skip
    return Promise(rate, confidence, threshold, len(wrong), int((wrong >= threshold).sum()), data)


def _promise(raw: dict[str, Any]) -> Promise:
    """A promise as JSON holds it.

    Raises:
        TypeError, ValueError, KeyError: it is none.
    """
    data = raw.get("data")
    found = Promise(**{**raw, "data": None if data is None else ExampleData(**data)})
    numbers = (found.rate, found.confidence, found.threshold)
    counts = (found.examples, found.errors)
    if not all(type(n) in (int, float) for n in numbers) or not all(type(n) is int and n >= 0 for n in counts):
        raise TypeError("rate, confidence, threshold, examples and errors of a promise must be numbers")
    allowed = allowed_errors(found.examples, found.rate, found.confidence)
    if allowed is None or found.errors > allowed:
        raise ValueError("the promise does not follow from its examples")
    return found
