"""Quality of embedded reranking: nDCG@10 of candidate lists, before and after.

    python -m benchmarks.quality_ranking [--queries 300] [--sets scifact cranfield ...]

Reads the folder named by RAG_INTRINSICS_DATA. Lists are BM25's top 40 (SciFact, Cranfield), top 30 (SQuAD 2.0, CLAPNQ:
the passages of the set are the corpus), the recorded top 10 of ELSER and Elasticsearch BM25 (MT-RAG, Mixtral rewrite as
query), and the sentences that FoolMeTwice retrieved. Each list is shuffled before it is reranked. nDCG counts relevant
passages that the list does not hold as missed.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from statistics import fmean

from intrinsics_core.bench.folder import rows
from intrinsics_core.embedded.lexical import terms
from intrinsics_core.embedded.models.bi_encoder import BiEncoder
from intrinsics_core.embedded.scoring.ranking import Fusion, rerank_scores, with_title


@dataclass(frozen=True)
class Candidates:
    """One query with its list, best first as retrieved; `relevant` counts those of the whole corpus."""

    query: str
    passages: list[tuple[str | None, str]]
    gains: list[int]
    relevant: int
    scores: list[float] | None


class Index:
    """BM25 (k1 1.2, b .75) over a corpus of (title, text)."""

    def __init__(self, corpus: Sequence[tuple[str | None, str]]) -> None:
        docs = [Counter(terms(with_title(text, title))) for title, text in corpus]
        self.lengths = [sum(d.values()) for d in docs]
        self.mean = fmean(self.lengths)
        self.postings: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for i, doc in enumerate(docs):
            for term, count in doc.items():
                self.postings[term].append((i, count))

    def search(self, query: str, k: int) -> list[tuple[int, float]]:
        found: dict[int, float] = defaultdict(float)
        for term in terms(query):
            hits = self.postings.get(term, [])
            idf = math.log1p((len(self.lengths) - len(hits) + 0.5) / (len(hits) + 0.5))
            for i, count in hits:
                norm = 1.2 * (0.25 + 0.75 * self.lengths[i] / self.mean)
                found[i] += idf * count * 2.2 / (count + norm)
        return sorted(found.items(), key=lambda hit: (-hit[1], hit[0]))[:k]


def searched(
    corpus: list[tuple[str | None, str]], queries: Sequence[tuple[str, set[int]]], k: int
) -> Iterator[Candidates]:
    index = Index(corpus)
    for query, gold in queries:
        hits = index.search(query, k)
        yield Candidates(
            query, [corpus[i] for i, _ in hits], [int(i in gold) for i, _ in hits], len(gold), [s for _, s in hits]
        )


def scifact(folder: Path) -> Iterator[Candidates]:
    docs = rows(folder, "scifact_corpus")
    place = {str(d["id"]): i for i, d in enumerate(docs)}
    claims = rows(folder, "scifact_claims")
    random.Random(0).shuffle(claims)
    queries = [(c["claim"], {place[str(d)] for d in c["docs"] if str(d) in place}) for c in claims]
    yield from searched([(d["title"], " ".join(d["sentences"])) for d in docs], queries, 40)


def cranfield(folder: Path) -> Iterator[Candidates]:
    found = rows(folder, "cranfield")
    docs = [r for r in found if r["kind"] == "doc" and r["text"].strip()]
    place = {d["id"]: i for i, d in enumerate(docs)}
    queries = [
        (r["text"], {place[d] for d, gain in r["qrels"].items() if gain > 0 and d in place})
        for r in found
        if r["kind"] == "query"
    ]
    yield from searched([(d["title"], d["text"]) for d in docs], queries, 40)


def squad(folder: Path) -> Iterator[Candidates]:
    found = rows(folder, "squad2_dev_b")
    place = {c: i for i, c in enumerate(dict.fromkeys(r["context"] for r in found))}
    random.Random(0).shuffle(found)
    queries = [(r["question"], {place[r["context"]]}) for r in found if r["answerable"]]
    yield from searched([(None, c) for c in place], queries, 30)


def clapnq(folder: Path) -> Iterator[Candidates]:
    found = rows(folder, "clapnq_dev")
    queries = [(r["question"], {i}) for i, r in enumerate(found) if r["answerable"]]
    yield from searched([(r["title"], " ".join(r["sentences"])) for r in found], queries, 30)


def fm2(folder: Path) -> Iterator[Candidates]:
    found = rows(folder, "fm2")
    random.Random(0).shuffle(found)
    for r in found:
        texts = list(dict.fromkeys(r["retrieved"]))
        gains = [int(text in r["gold"]) for text in texts]
        if 0 < sum(gains) < len(gains):
            yield Candidates(r["claim"], [(None, text) for text in texts], gains, sum(gains), None)


def mtrag(retriever: str) -> Callable[[Path], Iterator[Candidates]]:
    def read(folder: Path) -> Iterator[Candidates]:
        pool = {p["id"]: p["text"] for p in rows(folder, "mtrag_pool")}
        queries = {q["id"]: q for q in rows(folder, "mtrag_queries")}
        runs = [r for r in rows(folder, "mtrag_runs") if (r["retriever"], r["query"]) == (retriever, "rewrite")]
        random.Random(0).shuffle(runs)
        for run in runs:
            if run["id"] in queries and all(d in pool for d in run["docs"]):
                asked = queries[run["id"]]
                gains = [int(d in asked["qrels"]) for d in run["docs"]]
                passages: list[tuple[str | None, str]] = [(None, pool[d]) for d in run["docs"]]
                yield Candidates(asked["rewrite_mixtral"], passages, gains, len(asked["qrels"]), run["scores"])

    return read


SETS: dict[str, Callable[[Path], Iterator[Candidates]]] = {
    "scifact": scifact,
    "cranfield": cranfield,
    "squad": squad,
    "clapnq": clapnq,
    "fm2": fm2,
    "mtrag-elser": mtrag("elser"),
    "mtrag-bm25": mtrag("bm25"),
}


def ndcg(gains: Sequence[int], relevant: int, k: int = 10) -> float:
    ideal = sum(1 / math.log2(r + 2) for r in range(min(relevant, k)))
    return sum(g / math.log2(r + 2) for r, g in enumerate(gains[:k])) / ideal if ideal else 0.0


def measured(encoder: BiEncoder, found: Candidates, mix: random.Random) -> dict[str, float]:
    order = list(range(len(found.gains)))
    mix.shuffle(order)
    shown = [found.passages[i] for i in order]
    vectors = encoder.encode([with_title(text, title) for title, text in shown])
    asked = encoder.encode([found.query], kind="query")[0]

    def reranked(fusion: Fusion, *, prior: bool = False) -> float:
        scores = rerank_scores(
            found.query,
            [text for _, text in shown],
            asked,
            vectors,
            titles=[title for title, _ in shown],
            prior=[found.scores[i] for i in order] if prior and found.scores else None,
            fusion=fusion,
        )
        by_score = sorted(range(len(order)), key=lambda j: -scores[j])
        return ndcg([found.gains[order[j]] for j in by_score], found.relevant)

    base = Fusion()
    return {
        "as retrieved": ndcg(found.gains, found.relevant),
        "BM25 of the list": reranked(replace(base, lexical=1.0, doubt=0.0)),
        "cosine": reranked(replace(base, lexical=0.0)),
        "fused": reranked(base),
        "fused, retriever's scores": reranked(base, prior=True),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--queries", type=int, default=300)
    parser.add_argument("--sets", nargs="*", choices=sorted(SETS), default=list(SETS))
    args = parser.parse_args()
    folder = os.environ.get("RAG_INTRINSICS_DATA")
    if not folder:
        sys.exit("skipped: RAG_INTRINSICS_DATA does not name the data folder")
    head = False
    with BiEncoder(cache_size=256 * 2**20) as encoder:
        for name in args.sets:
            mix = random.Random(1)
            table = [measured(encoder, found, mix) for found in islice(SETS[name](Path(folder)), args.queries)]
            if not head:
                print("| nDCG@10 | queries | " + " | ".join(table[0]) + " |\n|---" + "|---" * (len(table[0]) + 1) + "|")
                head = True
            means = [fmean(row[column] for row in table) for column in table[0]]
            print(f"| {name} | {len(table)} | " + " | ".join(f"{m:.3f}" for m in means) + " |", flush=True)


if __name__ == "__main__":
    main()
