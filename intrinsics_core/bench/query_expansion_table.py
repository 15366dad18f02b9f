"""Query expansion: Recall@20/50/100 of all queries fused, and what each kind of query adds to the original's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from intrinsics_core.bench import mtrag
from intrinsics_core.bench.base import Case, Observed, Table
from intrinsics_core.bench.folder import DataFolder
from intrinsics_core.intrinsics import query_expansion
from intrinsics_core.protocol.results import QueryExpansion
from intrinsics_core.running.flows import fused

CUTS = (20, 50, 100)


def case(folder: DataFolder, turn: mtrag.RetrievalTurn) -> Case:
    def search(query: str) -> list[str]:
        return [identity for identity, _ in mtrag.index(folder, turn.domain).search(query, max(CUTS))]

    def observe(result: QueryExpansion) -> Observed:
        by_strategy: dict[str, list[str]] = {}
        for query in result.queries:
            by_strategy.setdefault(query.strategy, []).append(query.text)
        found = {strategy: [search(text) for text in texts] for strategy, texts in by_strategy.items()}
        lists = [ranking for rankings in found.values() for ranking in rankings]
        first = found.get("original", [])
        adds = {
            f"Recall@50 added by {strategy}": _recall50([*first, *rankings], turn) - _recall50(first, turn)
            for strategy, rankings in found.items()
            if strategy != "original"
        }
        return Observed({**mtrag.recalls(fused(lists, key=str), turn.gold, CUTS), "queries": float(len(lists)), **adds})

    def recorded(query: str) -> Observed:
        return Observed(mtrag.recalls(search(query), turn.gold, CUTS))

    baselines = {"last turn": partial(recorded, turn.messages[-1]["content"])}
    return Case("mtrag", lambda: query_expansion(turn.messages), observe, baselines)


def _recall50(rankings: Sequence[Sequence[str]], turn: mtrag.RetrievalTurn) -> float:
    return mtrag.recalls(fused(rankings, key=str), turn.gold, (50,))["Recall@50"]


def read(folder: DataFolder) -> Iterator[Case]:
    return (case(folder, turn) for turn in mtrag.turns(folder))


TABLE = Table("query-expansion", {"mtrag": read})
