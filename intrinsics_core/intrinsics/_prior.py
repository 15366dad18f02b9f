"""A retriever's own scores as evidence about its documents: only their order in the list counts, and it is bounded.

How much larger one score is than another means something else for each retriever. So what counts is how many of the
others a document stands above, less how many it stands below. Ties weigh nothing, one outlier weighs as much as any
first place, and nobody gains or loses more than :data:`BOUND` logits. MT-RAG, the 150 lists of ELSER that
`benchmarks.quality_ranking` draws, nDCG@5: .374 as retrieved, .336 without its scores, .380 with them.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import isfinite
from typing import Any

from intrinsics_core.calibration.probabilities import logit, sigmoid
from intrinsics_core.protocol.errors import InvalidInput
from intrinsics_core.protocol.results import Prior

BOUND = 1.0
"""Logits that a retriever's scores add to a probability at most, or take from it, where ``prior_weight`` is 1."""

MOST = 100  # of `prior_weight`: far beyond what leaves nothing of a judgement


def checked(weight: Any, higher_is_better: Any) -> None:
    """Refuse options that mean nothing.

    Raises:
        InvalidInput: ``prior_weight`` is no number from 0 to :data:`MOST`, or ``higher_is_better`` none of True, False
            and None.
    """
    if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 <= weight <= MOST:
        raise InvalidInput("prior_weight is out of range", intrinsic="reranking", expected=f"a number from 0 to {MOST}",
                           got=repr(weight))  # fmt: skip
    if higher_is_better is not None and not isinstance(higher_is_better, bool):
        raise InvalidInput("higher_is_better is unknown", intrinsic="reranking", expected="true, false or None",
                           got=repr(higher_is_better))  # fmt: skip


def direction(given: Sequence[float | None], higher_is_better: bool | None) -> Prior | None:
    """Which scores are the better ones; None where the scores say nothing.

    A retriever gives its best first. So scores that fall down the list are better when higher, and scores that rise
    are distances. A list that does both tells neither, and equal scores tell nothing. A list in which one document has
    no score, or one that is not finite, is no ranking of a retriever's.

    Args:
        given: the documents' scores, in the order of the list.
        higher_is_better: what the caller says; None: read it from the list.
    """
    known = [score for score in given if score is not None and isfinite(score)]
    if len(known) < len(given) or len(set(known)) < 2:
        return None
    if higher_is_better is None:
        falls = any(a > b for a, b in pairwise(known))
        rises = any(a < b for a, b in pairwise(known))
        if falls and rises:
            return None
        higher_is_better = falls
    return "higher is better" if higher_is_better else "lower is better"


def with_prior(
    probabilities: Sequence[float], given: Sequence[float | None], weight: float, higher_is_better: bool | None
) -> tuple[list[float], Prior | None]:
    """Each probability moved by its document's place among the retriever's scores, and the direction that was used.

    Args:
        probabilities: of relevance, one a document; 0 and 1 stay what they are.
        given: the retriever's scores, in the order of the list.
        weight: of the retriever's scores; 0 leaves them out.
        higher_is_better: see :func:`direction`.
    """
    way = direction(given, higher_is_better) if weight else None
    if way is None:
        return list(probabilities), None
    sign = 1.0 if way == "higher is better" else -1.0
    places = _places([sign * score for score in given if score is not None])
    return [
        sigmoid(logit(p) + weight * BOUND * place) if 0 < p < 1 else p
        for p, place in zip(probabilities, places, strict=True)
    ], way


def _places(values: Sequence[float]) -> list[float]:
    """How many of the others each is above, less how many it is below, as a share of all and one more: -1 to 1.

    The one more is the doubt about a short list: of two scores only their order is known.
    """
    first: dict[float, int] = {}
    last: dict[float, int] = {}
    for at, value in enumerate(sorted(values)):
        first.setdefault(value, at)
        last[value] = at
    count = len(values)
    return [(first[value] - (count - 1 - last[value])) / (count + 1) for value in values]
