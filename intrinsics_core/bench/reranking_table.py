"""Reranking: nDCG@5/10 (ir-measures) of BM25's and ELSER's lists after and before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from intrinsics_core.bench import mtrag, own
from intrinsics_core.bench.base import Case, Observed, Table
from intrinsics_core.bench.datasets import scifact_pages
from intrinsics_core.bench.folder import DataFolder
from intrinsics_core.bench.plain import coverage
from intrinsics_core.intrinsics import reranking
from intrinsics_core.protocol.results import Ranking
from intrinsics_core.runtimes.extras import extra

DEPTH = 40  # of BM25's list


def case(name: str, messages: Sequence[Any], documents: Sequence[Mapping[str, Any]], gold: frozenset[str]) -> Case:
    """A list with ids; ``gold`` may name documents that are not in it, which count as missed."""
    ids = [str(document["id"]) for document in documents]

    def order(places: Sequence[int]) -> Observed:
        return Observed(ndcg([ids[i] for i in places], gold))

    def observe(result: Ranking) -> Observed:
        return order([ranked.index for ranked in result.ranking])

    def covered() -> Observed:
        question = messages[-1]["content"]
        shares = [coverage(question, [f"{d.get('title') or ''}\n{d['text']}"]) for d in documents]
        return order(sorted(range(len(ids)), key=lambda i: -shares[i]))

    baselines = {"as retrieved": lambda: order(range(len(ids))), "word coverage": covered}
    return Case(name, lambda: reranking(messages, documents), observe, baselines)


def ndcg(ids: Sequence[str], gold: frozenset[str]) -> dict[str, float]:
    """nDCG@5 and @10 of a ranking, best first.

    Raises:
        RuntimeUnavailable: ir-measures is not installed.
    """
    with extra("eval", "this table needs ir-measures"):
        import ir_measures

    truth = [ir_measures.Qrel("q", identity, 1) for identity in gold]
    run = [ir_measures.ScoredDoc("q", identity, -float(i)) for i, identity in enumerate(ids)]
    wanted = {"nDCG@5": ir_measures.nDCG @ 5, "nDCG@10": ir_measures.nDCG @ 10}
    found = ir_measures.calc_aggregate(list(wanted.values()), truth, run)
    return {name: float(found[measure]) for name, measure in wanted.items()}


def scifact(folder: DataFolder) -> Iterator[Case]:
    pages = scifact_pages(folder)
    if "scifact index" not in folder.kept:
        folder.kept["scifact index"] = mtrag.Index({i: f"{page.title}\n{page.text}" for i, page in pages.items()})
    index: mtrag.Index = folder.kept["scifact index"]
    for row in folder.rows("scifact_claims"):
        hits = index.search(row["claim"], DEPTH)
        documents = [{"id": i, "text": pages[i].text, "title": pages[i].title, "score": score} for i, score in hits]
        if documents and row["docs"]:
            yield case(
                "scifact-bm25", [{"role": "user", "content": row["claim"]}], documents, frozenset(map(str, row["docs"]))
            )


def elser(folder: DataFolder) -> Iterator[Case]:
    """The standalone question as the query, as the recorded run had it."""
    for found in mtrag.runs(folder, "elser"):
        question = found.turn.rewrites["Mixtral"]
        if documents := found.documents(folder):
            yield case("mtrag-elser", [{"role": "user", "content": question}], documents, found.turn.gold)


def mine(row: Mapping[str, Any]) -> Case:
    documents = [{"text": d} if isinstance(d, str) else dict(d) for d in own.documents(row)]
    for i, document in enumerate(documents):
        document["id"] = str(document.get("id", i))
    return case(
        "own", own.conversation(row, answered=False), documents, frozenset(map(str, own.needed(row, "relevant")))
    )


TABLE = Table(
    "reranking",
    {"scifact-bm25": scifact, "mtrag-elser": elser},
    own=mine,
    columns={
        "question or messages": "the conversation",
        "documents": "texts, or objects with text, id and score, as retrieved",
        "relevant": "ids (positions from 0, where there are none) of the right ones",
    },
)
