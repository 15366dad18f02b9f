"""Measures over judgements: each takes rows of (truth, label, score), and is None where it is undefined.

Truth of the binary ones is true/false, where true is the class that the score speaks for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from intrinsics_core.bench.base import Labelled, Measure
from intrinsics_core.calibration import fitting as calibration

Array = NDArray[np.float64]


def auroc(rows: Sequence[Labelled]) -> float | None:
    """Area under the ROC curve; rows without a score count as .5."""
    truth, scores = _binary(rows)
    return calibration.auroc(scores, truth > 0) if 0 < truth.sum() < len(truth) else None


def f1(positive: Any) -> Measure:
    """F1 of one label."""
    return lambda rows: _f1(rows, positive)


def precision(positive: Any) -> Measure:
    """Of the rows given this label, the share whose truth it is; None where none was given it."""
    return lambda rows: _share([t == positive for t, label, _ in rows if label == positive])


def recall(positive: Any) -> Measure:
    """Of the rows whose truth is this, the share given the label."""
    return lambda rows: _share([label == positive for t, label, _ in rows if t == positive])


def weighted_f1(rows: Sequence[Labelled]) -> float | None:
    """F1 of each class, weighted by how often it is the truth."""
    if not rows:
        return None
    classes = {t for t, _, _ in rows}
    counts = {c: sum(t == c for t, _, _ in rows) for c in classes}
    return float(sum(counts[c] * (_f1(rows, c) or 0.0) for c in classes)) / len(rows)


def ece(rows: Sequence[Labelled], bins: int = 10) -> float | None:
    """Expected calibration error in 10 equal bins."""
    truth, scores = _scored(rows)
    return calibration.ece(calibration.reliability(scores, truth > 0, bins=bins)) if len(truth) else None


def mae(rows: Sequence[Labelled]) -> float | None:
    """Mean absolute difference between the score and the truth as 0 or 1."""
    truth, scores = _scored(rows)
    return float(np.abs(truth - scores).mean()) if len(truth) else None


def brier_skill(rows: Sequence[Labelled]) -> float | None:
    """How much smaller the Brier score is than that of always saying the share of trues: above 0, it says something."""
    truth, scores = _scored(rows)
    constant = float(truth.var()) if len(truth) else 0.0
    return 1 - float(((truth - scores) ** 2).mean()) / constant if constant else None


def risk_coverage(rows: Sequence[Labelled]) -> float | None:
    """Area under the risk-coverage curve: mean error among the surest rows, over every share kept; less is better."""
    truth, scores = _scored(rows)
    if not len(truth):
        return None
    order = np.argsort(-scores, kind="stable")
    # Equal scores say nothing about their order: each of them counts with the mean of all.
    _, tied = np.unique(scores[order], return_inverse=True)
    wrong = (np.bincount(tied, 1 - truth[order]) / np.bincount(tied))[tied]
    return float((np.cumsum(wrong) / np.arange(1, len(wrong) + 1)).mean())


def _f1(rows: Sequence[Labelled], positive: Any) -> float | None:
    hits = sum(t == positive and label == positive for t, label, _ in rows)
    given = sum(label == positive for _, label, _ in rows)
    due = sum(t == positive for t, _, _ in rows)
    return 2 * hits / (given + due) if given + due else None


def _share(found: Sequence[bool]) -> float | None:
    return sum(found) / len(found) if found else None


def _binary(rows: Sequence[Labelled]) -> tuple[Array, Array]:
    truth = np.array([bool(t) for t, _, _ in rows], float)
    return truth, np.array([0.5 if s is None else s for _, _, s in rows], float)


def _scored(rows: Sequence[Labelled]) -> tuple[Array, Array]:
    return _binary([row for row in rows if row[2] is not None])
