"""Uncertainty from recorded answers: how often answers of like log-probability were right, a third of the rows under
each of three system prompts.

The target is no judgement of the one answer but the calibrated share among its likes: what an honest certainty is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from intrinsics_core.bench.datasets import recorded_answers
from intrinsics_core.bench.folder import DataFolder, Row
from intrinsics_core.calibration.probabilities import tenth

SYSTEMS: tuple[str | None, ...] = (
    None,  # the model's own
    "You are a careful assistant. Answer in one short sentence.",
    "Answer the user's question. Where you do not know, say so.",
)
_BINS = 10


def recorded(folder: DataFolder) -> Iterator[Row]:
    rows = [row for row in recorded_answers(folder) if row.logprobs and row.answer.strip()]
    shares = calibrated([sum(row.logprobs) / len(row.logprobs) for row in rows], [row.truthful for row in rows])
    for number, (row, share) in enumerate(zip(rows, shares, strict=True)):
        system = SYSTEMS[number % len(SYSTEMS)]
        turns = [] if system is None else [{"role": "system", "content": system}]
        turns += [{"role": "user", "content": row.question}, {"role": "assistant", "content": row.answer}]
        yield {"id": f"recorded-{number}", "messages": turns, "documents": [], "group": row.question,
               "result": {"certainty": tenth(share)}}  # fmt: skip


def calibrated(scores: Sequence[float], right: Sequence[bool], bins: int = _BINS) -> list[float]:
    """For each score the share of right ones among those of its bin; all bins hold about as many."""
    order = sorted(range(len(scores)), key=lambda i: (scores[i], i))
    found = [0.0] * len(scores)
    for number in range(bins):
        members = order[number * len(order) // bins : (number + 1) * len(order) // bins]
        for i in members:
            found[i] = sum(right[j] for j in members) / len(members)
    return found
