"""Ranking by comparisons.

Up to ten documents meet each other, every pair, and are ranked by wins. Above ten, knock-out rounds in the manner of a
seeded tournament (the first of the retriever's order meets the last, and so on; an odd one has a bye) until ten or
fewer are left, and these meet each other. A loser's rank is true: who was beaten later stands above who was beaten
earlier, and within a round the order is that of the winners.

A model that prefers neither gives half a win to each. A comparison that fails counts as such a tie: it costs half a
win, not the ranking.
"""

from __future__ import annotations

from itertools import combinations

from intrinsics_core.intrinsics import _costs
from intrinsics_core.protocol.errors import IntrinsicsError
from intrinsics_core.protocol.profile import Profile
from intrinsics_core.protocol.requests import Program
from intrinsics_core.protocol.results import Ranking
from intrinsics_core.protocol.task import Task
from intrinsics_core.replies.rankings import ranking

ALL_PAIRS = 10  # documents up to which every pair is compared

Pair = tuple[int, int]


def pairwise(task: Task, profile: Profile, *, both_orders: bool) -> Program[Ranking]:
    """The ranking; ``wins`` counts won comparisons, both orders of a pair as one."""
    held = _Held(task, profile, both_orders)
    beaten_rounds = []
    alive = list(range(len(task.documents)))
    while len(alive) > ALL_PAIRS:
        shares = yield from held.compare([(alive[i], alive[-1 - i]) for i in range(len(alive) // 2)])
        # A tie goes to the one that the retriever had put first.
        beaten = {(b if share >= 0.5 else a): (a if share >= 0.5 else b) for (a, b), share in shares.items()}
        beaten_rounds.append(beaten)
        alive = [i for i in alive if i not in beaten]
    shares = yield from held.compare(list(combinations(alive, 2)))
    final = dict.fromkeys(alive, 0.0)
    for (a, b), share in shares.items():
        final[a], final[b] = final[a] + share, final[b] + 1 - share
    order = sorted(alive, key=lambda i: -final[i])
    for beaten in reversed(beaten_rounds):
        place = {winner: at for at, winner in enumerate(order)}
        order += sorted(beaten, key=lambda loser, by=beaten, at=place: at[by[loser]])  # type: ignore[misc]
    degraded = _costs.failure_note(held.failures, held.asked, "comparisons failed and count as ties")
    return ranking(task, order, wins=held.wins, degraded=degraded)


class _Held:
    """The comparisons of one ranking."""

    def __init__(self, task: Task, profile: Profile, both_orders: bool) -> None:
        self.task, self.profile, self.both_orders = task, profile, both_orders
        self.wins = [0.0] * len(task.documents)
        self.asked = 0
        self.failures: list[IntrinsicsError] = []

    def compare(self, pairs: list[Pair]) -> Program[dict[Pair, float]]:
        """For each pair the share of comparisons that its first document won: 0, .5 or 1. One wave."""
        asked = pairs + [(b, a) for a, b in pairs] if self.both_orders else pairs
        answers = yield from self.profile.ask_many("comparison", [self.task.only(a, b) for a, b in asked])
        self.failures += _costs.checked(answers)
        self.asked += len(asked)
        won = {
            pair: 0.5 if isinstance(answer, IntrinsicsError) or answer == 0.5 else float(answer > 0.5)
            for pair, answer in zip(asked, answers, strict=True)
        }
        shares = {(a, b): (won[a, b] + 1 - won[b, a]) / 2 if self.both_orders else won[a, b] for a, b in pairs}
        for (a, b), share in shares.items():
            self.wins[a] += share
            self.wins[b] += 1 - share
        return shares
