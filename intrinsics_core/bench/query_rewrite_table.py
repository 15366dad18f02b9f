"""Query rewrite: Recall@5/10/20 of BM25 with the rewrite as query, for turns that stand alone and those that do not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from intrinsics_core.bench import mtrag
from intrinsics_core.bench.base import Case, Observed, Table
from intrinsics_core.bench.folder import DataFolder
from intrinsics_core.intrinsics import query_rewrite
from intrinsics_core.protocol.results import QueryRewrite

CUTS = (5, 10, 20)


def case(name: str, folder: DataFolder, turn: mtrag.RetrievalTurn) -> Case:
    def found(query: str) -> dict[str, float]:
        hits = mtrag.index(folder, turn.domain).search(query, max(CUTS))
        return mtrag.recalls([identity for identity, _ in hits], turn.gold, CUTS)

    def observe(result: QueryRewrite) -> Observed:
        plain = {f"{key} of the plain question": value for key, value in found(result.query).items()}
        return Observed({**found(result.retrieval_query), **plain, "share changed": float(result.changed)})

    def recorded(query: str) -> Observed:
        return Observed(found(query))

    last = turn.messages[-1]["content"]
    baselines = {"last turn": partial(recorded, last)}
    baselines |= {f"{who} (recorded)": partial(recorded, text) for who, text in turn.rewrites.items()}
    return Case(name, lambda: query_rewrite(turn.messages), observe, baselines)


def standing(alone: bool) -> Callable[[DataFolder], Iterator[Case]]:
    name = "mtrag, standalone" if alone else "mtrag, not standalone"

    def read(folder: DataFolder) -> Iterator[Case]:
        return (case(name, folder, turn) for turn in mtrag.turns(folder) if turn.standalone == alone)

    return read


TABLE = Table("query-rewrite", {"mtrag, not standalone": standing(False), "mtrag, standalone": standing(True)})
