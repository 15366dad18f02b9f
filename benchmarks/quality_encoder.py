"""What int8 costs: the shipped encoder against the same weights in float32, on SciFact.

    python -m benchmarks.quality_encoder [--documents 5183] [--claims 300]

Reads the folder named by RAG_INTRINSICS_DATA; needs the extra `[build]` for the float weights. Prints the overlap of
the ten nearest documents of a claim, the mean cosine of a text's two vectors, nDCG@10 of both, and sizes.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from intrinsics_core.bench.folder import rows
from intrinsics_core.embedded.models.bi_encoder import SHIPPED, BiEncoder


def float_folder(out: Path) -> Path:
    """The float32 twin of the shipped folder."""
    import onnx

    from training.build_encoder import bert, checked_weights, source_folder

    onnx.save(bert(checked_weights(source_folder()))[1], out / "model.onnx")
    for name in ("tokenizer.json", "encoder.json"):
        (out / name).write_bytes((SHIPPED / name).read_bytes())
    return out


def ndcg(ranked: NDArray[Any], gold: list[set[int]]) -> float:
    found = []
    for order, wanted in zip(ranked, gold, strict=True):
        gain = sum(1 / math.log2(r + 2) for r, i in enumerate(order[:10]) if int(i) in wanted)
        found.append(gain / sum(1 / math.log2(r + 2) for r in range(min(10, len(wanted)))))
    return float(np.mean(found))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--documents", type=int, default=5183)
    parser.add_argument("--claims", type=int, default=300)
    args = parser.parse_args()
    data = os.environ.get("RAG_INTRINSICS_DATA")
    if not data:
        sys.exit("skipped: RAG_INTRINSICS_DATA does not name the data folder (see docs/data.md)")
    documents = rows(Path(data), "scifact_corpus")[: args.documents]
    place = {str(d["id"]): i for i, d in enumerate(documents)}
    claims = [c for c in rows(Path(data), "scifact_claims") if any(str(d) in place for d in c["docs"])][: args.claims]
    gold = [{place[str(d)] for d in c["docs"] if str(d) in place} for c in claims]
    texts = [f"{d['title']}\n{' '.join(d['sentences'])}" for d in documents]
    found: dict[str, tuple[NDArray[Any], NDArray[Any]]] = {}
    print("| | MB | nDCG@10 | seconds |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name, path in (("int8, shipped", SHIPPED), ("float32", float_folder(Path(folder)))):
            with BiEncoder(path, cache_size=0) as encoder:
                start = time.perf_counter()
                # the first window of each text, so that there is one vector to compare
                d = np.stack([v[0] for v in encoder.encode(texts)])
                q = np.stack([v[0] for v in encoder.encode([c["claim"] for c in claims])])
                seconds = time.perf_counter() - start
            found[name] = np.argsort(-(q @ d.T), axis=1, kind="stable"), np.concatenate([d, q])
            size = (Path(path) / "model.onnx").stat().st_size / 1e6
            print(f"| {name} | {size:.1f} | {ndcg(found[name][0], gold):.3f} | {seconds:.0f} |", flush=True)
    (a, x), (b, y) = found.values()
    overlap = np.mean([len(set(s[:10]) & set(t[:10])) / 10 for s, t in zip(a.tolist(), b.tolist(), strict=True)])
    print(f"\ntop-10 overlap {overlap:.3f}, mean cosine {(x * y).sum(1).mean():.4f}", end=" ")
    print(f"({len(documents)} documents, {len(claims)} claims)")


if __name__ == "__main__":
    main()
