"""Passage reranking: all documents, best first, by comparisons or by a pointwise scorer.

With a model that compares (profiles with a ``comparison`` format): up to ten documents meet each other, every pair,
and are ranked by wins. Above ten, knock-out rounds in the manner of a seeded tournament (the first of the retriever's
order meets the last, and so on; an odd one has a bye) until ten or fewer are left, and these meet each other. A loser's
rank is true: who was beaten later stands above who was beaten earlier, and within a round the order is that of the
winners. A profile with a ``pointwise`` format scores all documents in one request, and the scores are sorted.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import combinations

from intrinsics_core.conversation import Task
from intrinsics_core.errors import IntrinsicsError
from intrinsics_core.intrinsics._common import Documents, Messages, OnError, call
from intrinsics_core.intrinsics.table import register
from intrinsics_core.profiles.base import Profile
from intrinsics_core.program import Call
from intrinsics_core.requests import Program
from intrinsics_core.results import RankedDocument, Ranking

ALL_PAIRS = 10  # documents up to which every pair is compared

Pair = tuple[int, int]


def _original_order(task: Task, why: str) -> Ranking:
    scores = [document.score for document in task.documents]
    return _ranking(task, range(len(scores)), scores).model_copy(update={"degraded": why})


def _nothing(task: Task, why: str) -> Ranking:
    return Ranking(ranking=(), reason=why)


@register(
    "reranking",
    result=Ranking,
    ends_with=("user",),
    needs_documents=True,
    empty=_nothing,
    fallbacks={"fallback": _original_order},
    needs="question, documents",
    gives="every document once, with a true rank",
)
def reranking(
    messages: Messages,
    documents: Documents,
    *,
    both_orders: bool = False,
    on_error: OnError = "raise",
    date: str | None = None,
) -> Call[Ranking]:
    """Rank documents by how well they answer the last user turn.

    Args:
        messages: a conversation that ends with a user turn.
        documents: any number, in the retriever's order; none gives an empty ranking and asks nothing.
        both_orders: compare every pair as (a, b) and as (b, a) against position bias, at twice the requests; where the
            two disagree both get half a win. No effect on a pointwise scorer.
        on_error: ``"fallback"`` gives the original order with the scores that were there, marked as degraded.
        date: date text for prompts that carry one; the day of the call where left out.

    Returns:
        A call whose result has every document once, with a rank from 1. Up to ten compared documents, ``score`` is the
        share of comparisons won; above, it is the share of documents ranked at or below. With a pointwise scorer it is
        the probability of relevance, which does not depend on the other documents; the order may use more, so it need
        not fall with the rank; ``wins`` is None.

    Raises:
        InvalidInput: at once, where the input is wrong.

    Source: *A Library of LLM Intrinsics for RAG* (2025), passage reranking.
    """
    return call("reranking", messages, documents, date=date, program=partial(_program, both_orders=both_orders),
                on_error=on_error)  # fmt: skip


def _program(task: Task, profile: Profile, *, both_orders: bool) -> Program[Ranking]:
    count = len(task.documents)
    if "pointwise" in profile:
        return _by_score(task, (yield from profile.ask("pointwise", task)))
    beaten_rounds, wins = [], [0.0] * count
    alive = list(range(count))
    while len(alive) > ALL_PAIRS:
        pairs = [(alive[i], alive[-1 - i]) for i in range(len(alive) // 2)]
        shares = yield from _compare(task, profile, pairs, both_orders)
        # A tie goes to the one that the retriever had put first.
        beaten = {(b if share >= 0.5 else a): (a if share >= 0.5 else b) for (a, b), share in shares.items()}
        _count(wins, shares)
        beaten_rounds.append(beaten)
        alive = [i for i in alive if i not in beaten]
    pairs = list(combinations(alive, 2))
    shares = yield from _compare(task, profile, pairs, both_orders)
    final = dict.fromkeys(alive, 0.0)
    for (a, b), share in shares.items():
        final[a], final[b] = final[a] + share, final[b] + 1 - share
    _count(wins, shares)
    order = sorted(alive, key=lambda i: -final[i])
    for beaten in reversed(beaten_rounds):
        place = {winner: at for at, winner in enumerate(order)}
        order += sorted(beaten, key=lambda loser, by=beaten, at=place: at[by[loser]])  # type: ignore[misc]
    if count <= ALL_PAIRS:
        scores = [wins[i] / (count - 1) if count > 1 else 1.0 for i in range(count)]
    else:
        rank = {document: at for at, document in enumerate(order)}
        scores = [1 - rank[i] / count for i in range(count)]
    return _ranking(task, order, scores, wins)


def _by_score(task: Task, found: Sequence[float | tuple[float, float]]) -> Ranking:
    """Sorted, ties in the retriever's order. Of a pair the first is the score and the second what to order by."""
    pairs = [entry if isinstance(entry, tuple) else (entry, entry) for entry in found]
    order = sorted(range(len(pairs)), key=lambda i: -pairs[i][1])
    return _ranking(task, order, [score for score, _ in pairs])


def _compare(task: Task, profile: Profile, pairs: list[Pair], both_orders: bool) -> Program[dict[Pair, float]]:
    """For each pair the share of comparisons that its first document won: 0, .5 or 1. One wave."""
    asked = pairs + [(b, a) for a, b in pairs] if both_orders else pairs
    answers = yield from profile.ask_many("comparison", [task.only(a, b) for a, b in asked])
    for answer in answers:
        if isinstance(answer, IntrinsicsError):
            raise answer
    first_won = dict(zip(asked, (float(a >= 0.5) for a in answers), strict=True))
    if not both_orders:
        return first_won
    return {(a, b): (first_won[a, b] + 1 - first_won[b, a]) / 2 for a, b in pairs}


def _count(wins: list[float], shares: dict[Pair, float]) -> None:
    for (a, b), share in shares.items():
        wins[a] += share
        wins[b] += 1 - share


def _ranking(
    task: Task, order: Sequence[int], scores: Sequence[float | None], wins: Sequence[float] | None = None
) -> Ranking:
    return Ranking(
        ranking=tuple(
            RankedDocument(
                index=i,
                document_id=task.document_id(i),
                rank=rank,
                score=scores[i],
                wins=None if wins is None else wins[i],
            )
            for rank, i in enumerate(order, start=1)
        )
    )
