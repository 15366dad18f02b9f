"""Quality of embedded context relevance and answerability.

    python -m benchmarks.quality_answering [--rows 600] [--sets squad clapnq ...] [--reliability]

Reads the folder named by RAG_INTRINSICS_DATA. The heads were fitted on SQuAD 2.0 and CLAPNQ, so those two rows are not
held out (held-out numbers stand in `data/heads/*.json`); the others were never fitted on. `best` is weighted F1
at the threshold that suits the set best, as a calibration on its own labels would find it: an upper bound. All columns
but the last are of the head without a reader; that is the whole default's AUROC, through the public function: context
relevance for the votes on MT-RAG's passages, answerability for the others.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

import intrinsics_core
from intrinsics_core.bench.folder import rows
from intrinsics_core.calibration.fitting import calibrate, quality, weighted_f1
from intrinsics_core.embedded.models.bi_encoder import BiEncoder
from intrinsics_core.embedded.relevance import best_cosine, passage_score, shipped_head
from intrinsics_core.protocol.results import Answerability, ContextRelevance
from training.answering import SETS as FITTED
from training.answering import Pair


@dataclass(frozen=True)
class Row:
    question: str
    passages: list[str]
    label: bool


def fitted(name: str) -> Callable[[Path], Iterator[Row]]:
    def read(folder: Path) -> Iterator[Row]:
        pairs: list[Pair] = FITTED[name](folder)
        random.Random(0).shuffle(pairs)
        yield from (Row(p.question, [p.passage], p.label) for p in pairs)

    return read


def cast(folder: Path) -> Iterator[Row]:
    """Conversational questions, one passage: does it hold an answer sentence?"""
    found = rows(folder, "cast_answerability")
    random.Random(0).shuffle(found)
    yield from (Row(r["question"], [r["passage"]], bool(r["answerable"])) for r in found)


def mtrag_relevance(folder: Path) -> Iterator[Row]:
    """Annotators' relevant yes/no of one context to the last turn."""
    pool = {p["id"]: p["text"] for p in rows(folder, "mtrag_pool")}
    found = [(t, c) for t in rows(folder, "mtrag_tasks") for c in t["contexts"] if c["relevant"] is not None]
    random.Random(0).shuffle(found)
    yield from (Row(t["question"], [pool[c["id"]]], bool(c["relevant"])) for t, c in found if c["id"] in pool)


def recorded(folder: Path, retriever: str) -> Iterator[tuple[dict[str, str], dict[str, Any], dict[str, Any]]]:
    """MT-RAG's pool of texts by id, a query, and what a retriever found for its rewrite; in a fixed random order."""
    pool = {p["id"]: p["text"] for p in rows(folder, "mtrag_pool")}
    queries = {q["id"]: q for q in rows(folder, "mtrag_queries")}
    found = [r for r in rows(folder, "mtrag_runs") if (r["retriever"], r["query"]) == (retriever, "rewrite")]
    random.Random(0).shuffle(found)
    yield from ((pool, queries[r["id"]], r) for r in found if r["id"] in queries)


def mtrag_runs(retriever: str) -> Callable[[Path], Iterator[Row]]:
    """Five retrieved passages: is a gold passage among them? (Unjudged passages that answer count against.)"""

    def read(folder: Path) -> Iterator[Row]:
        for pool, asked, r in recorded(folder, retriever):
            passages = [pool[d] for d in r["docs"][:5] if d in pool]
            if passages:
                yield Row(asked["rewrite_mixtral"], passages, bool(r["hit5"]))

    return read


SETS: dict[str, Callable[[Path], Iterator[Row]]] = {
    "squad": fitted("squad2_dev_b"),
    "clapnq": fitted("clapnq_dev"),
    "cast": cast,
    "mtrag-relevance": mtrag_relevance,
    "mtrag-elser": mtrag_runs("elser"),
    "mtrag-bm25": mtrag_runs("bm25"),
}


RELEVANCE = ("mtrag-relevance",)
"""The sets whose labels are of one passage's relevance."""


def said(found: Answerability | ContextRelevance) -> float:
    """The score of the gate, or of the only passage."""
    return (found.probability if isinstance(found, Answerability) else found.judgements[0].score) or 0.0


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--rows", type=int, default=600)
    parser.add_argument("--sets", nargs="*", choices=sorted(SETS), default=list(SETS))
    parser.add_argument("--reliability", action="store_true", help="print the reliability tables too")
    args = parser.parse_args()
    folder = os.environ.get("RAG_INTRINSICS_DATA")
    if not folder:
        sys.exit("skipped: RAG_INTRINSICS_DATA does not name the data folder (see docs/data.md)")
    head = shipped_head("answerability")
    threshold = head.thresholds["answerable"]
    print("| | rows | true | weighted F1 | best | AUROC | AUROC of cosine | ECE | ECE calibrated | AUROC, reader |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    tables = []
    with BiEncoder() as encoder:
        for name in args.sets:
            scores, cosines, labels, asking = [], [], [], list[Any]()
            asked_for: Any = intrinsics_core.context_relevance if name in RELEVANCE else intrinsics_core.answerability
            for row in islice(SETS[name](Path(folder)), args.rows):
                asked = encoder.encode([row.question], kind="query")[0]
                vectors = encoder.encode(row.passages)
                both = zip(row.passages, vectors, strict=True)
                scores.append(max(passage_score(row.question, text, asked, v, head) for text, v in both))
                cosines.append(max(best_cosine(asked, v) for v in vectors))
                labels.append(row.label)
                asking.append(asked_for([{"role": "user", "content": row.question}], row.passages))
            read = [said(found) for found in intrinsics_core.run_many(asking)]
            y, p = np.array(labels), np.array(scores)
            found, tuned = quality(p, y), calibrate(scores, labels)
            numbers = [
                weighted_f1(y, p >= threshold),
                tuned.objective_value,
                found.auroc,
                quality(np.array(cosines), y).auroc,
                found.ece or 0.0,
                tuned.after.ece or 0.0,
                quality(np.array(read), y).auroc,
            ]
            print(
                f"| {name} | {len(y)} | {y.mean():.2f} | " + " | ".join(f"{n:.3f}" for n in numbers) + " |", flush=True
            )
            tables.append((name, found.table or ()))
    for name, table in tables if args.reliability else ():
        print(f"\n{name}\n\n| predicted | rows | mean | true |\n|---|---|---|---|")
        for b in table:
            print(f"| {b.low:.1f}-{b.high:.1f} | {b.count} | {b.predicted:.2f} | {b.observed:.2f} |")


if __name__ == "__main__":
    main()
