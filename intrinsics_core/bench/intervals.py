"""Bootstrap intervals: how far a number could be off, had other rows been drawn."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from intrinsics_core.bench.base import Labelled, Measure, Observed

RESAMPLES = 1000
Statistic = Callable[[Sequence[Observed]], float | None]


def mean_of(name: str) -> Statistic:
    """The mean of one value over the cases that have it."""

    def statistic(cases: Sequence[Observed]) -> float | None:
        found = [case.values[name] for case in cases if name in case.values]
        return sum(found) / len(found) if found else None

    return statistic


def pooled(level: str, measure: Measure) -> Statistic:
    """A measure over the judgements of all cases."""

    def statistic(cases: Sequence[Observed]) -> float | None:
        rows: list[Labelled] = [row for case in cases for row in case.labelled.get(level, ())]
        return measure(rows) if rows else None

    return statistic


def interval(cases: Sequence[Observed], statistic: Statistic, *, seed: int = 0) -> tuple[float, float] | None:
    """The middle 95% of the statistic over resampled cases (percentile bootstrap); None below two cases.

    Cases are drawn, not judgements: the sentences of one answer are not independent of each other.

    Args:
        cases: what was observed of each case.
        statistic: a function of such a sequence that gives a number, or None where it has no value.
        seed: seed of the resampling.

    Returns:
        The bounds (low, high), or None.
    """
    return _spread(len(cases), lambda drawn: statistic([cases[i] for i in drawn]), seed)


def difference(
    first: Sequence[Observed], second: Sequence[Observed], statistic: Statistic, *, seed: int = 0
) -> tuple[float, float, float] | None:
    """(first minus second, low, high) of two systems on the same cases, resampled together.

    Args:
        first: what was observed of each case with the first system.
        second: the same cases with the second system, in the same order.
        statistic: a function of such a sequence that gives a number, or None where it has no value.
        seed: seed of the resampling.

    Returns:
        (difference, low, high), or None where there is no interval.
    """

    def gap(drawn: Sequence[int]) -> float | None:
        a, b = (statistic([cases[i] for i in drawn]) for cases in (first, second))
        return None if a is None or b is None else a - b

    value, spread = gap(range(len(first))), _spread(len(first), gap, seed)
    return None if value is None or spread is None else (value, *spread)


def _spread(n: int, statistic: Callable[[Sequence[int]], float | None], seed: int) -> tuple[float, float] | None:
    if n < 2:
        return None
    draws = np.random.default_rng(seed).integers(0, n, (RESAMPLES, n))
    found = [value for drawn in draws if (value := statistic(drawn)) is not None]
    if not found:
        return None
    low, high = np.quantile(found, (0.025, 0.975))
    return float(low), float(high)
