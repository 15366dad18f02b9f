"""Quality of embedded reranking: nDCG of candidate lists, before and after.

    python -m benchmarks.quality_ranking [--queries 300] [--sets scifact cranfield ...] [--at 10] [--no-reader]

Reads the folder named by RAG_INTRINSICS_DATA. Lists are BM25's top 40 (SciFact, Cranfield), top 30 (SQuAD 2.0, CLAPNQ:
the passages of the set are the corpus), the recorded top 10 of ELSER and Elasticsearch BM25 (MT-RAG, Mixtral rewrite as
query), and the sentences that FoolMeTwice retrieved. Each list is shuffled before it is reranked. nDCG counts relevant
passages that the list does not hold as missed; ± is one standard error.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from statistics import fmean, stdev

from benchmarks.quality_answering import recorded
from intrinsics_core import Runtime, as_runtime, reranking, run
from intrinsics_core.bench.folder import rows
from intrinsics_core.embedded.relevance import with_title
from intrinsics_core.embedded.words import bm25, terms
from intrinsics_core.intrinsics.reranking import Reading


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
        for pool, asked, r in recorded(folder, retriever):
            if all(d in pool for d in r["docs"]):
                gains = [int(d in asked["qrels"]) for d in r["docs"]]
                passages: list[tuple[str | None, str]] = [(None, pool[d]) for d in r["docs"]]
                yield Candidates(asked["rewrite_mixtral"], passages, gains, len(asked["qrels"]), r["scores"])

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


def measured(runtime: Runtime, found: Candidates, mix: random.Random, k: int) -> dict[str, float]:
    order = list(range(len(found.gains)))
    mix.shuffle(order)
    texts = [terms(with_title(text, title)) for title, text in found.passages]
    by_words = bm25(terms(found.query), [texts[i] for i in order])
    documents = [
        {"title": found.passages[i][0], "text": found.passages[i][1], "score": found.scores and found.scores[i]}
        for i in order
    ]

    def of(places: Sequence[int]) -> float:
        return ndcg([found.gains[order[i]] for i in places], found.relevant, k)

    def reranked(prior: Reading | None) -> float:
        call = reranking([{"role": "user", "content": found.query}], documents, prior=prior)
        return of([row.index for row in run(call, runtime).ranking])

    return {
        "as retrieved": ndcg(found.gains, found.relevant, k),
        "BM25 of the list": of(sorted(range(len(order)), key=lambda i: -by_words[i])),
        "reranked": reranked(None),
        "reranked, retriever's scores": reranked("higher"),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--queries", type=int, default=300)
    parser.add_argument("--sets", nargs="*", choices=sorted(SETS), default=list(SETS))
    parser.add_argument("--at", type=int, default=10, help="nDCG is counted to this place")
    parser.add_argument("--no-reader", dest="reader", action="store_const", const=False, help="the encoder alone")
    args = parser.parse_args()
    folder = os.environ.get("RAG_INTRINSICS_DATA")
    if not folder:
        sys.exit("skipped: RAG_INTRINSICS_DATA does not name the data folder (see docs/data.md)")
    head = False
    with as_runtime({"kind": "embedded", "reader": args.reader}) as runtime:
        for name in args.sets:
            mix = random.Random(1)
            drawn = islice(SETS[name](Path(folder)), args.queries)
            table = [measured(runtime, found, mix, args.at) for found in drawn]
            if not head:
                columns = " | ".join(table[0])
                print(f"| nDCG@{args.at} | queries | {columns} |\n|---" + "|---" * (len(table[0]) + 1) + "|")
                head = True
            columns = [[row[column] for row in table] for column in table[0]]
            shown = [f"{fmean(c):.3f} ± {stdev(c) / math.sqrt(len(c)):.3f}" for c in columns]
            print(f"| {name} | {len(table)} | " + " | ".join(shown) + " |", flush=True)


if __name__ == "__main__":
    main()
