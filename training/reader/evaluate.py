"""Measure a reader beside plain word coverage.

    python -m training.reader.evaluate CHECKPOINT_OR_EXPORT --data $RAG_INTRINSICS_DATA [--wordnet DIR] [--json FILE]

CHECKPOINT is a folder with `model.safetensors` (torch) or with `model.onnx` (what ships). Prints a table of AUROCs:
word coverage, the reader, and the mean of both after each is standardised on the table's own rows (does the one know
what the other does not?). Sets marked *never* were not trained on at all.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
from collections.abc import Callable, Sequence
from pathlib import Path

from intrinsics_core.calibration.fitting import auroc
from training.reader.measuring import TABLES, Example, examples
from training.reader.pairs import TASKS, Task

Scorer = Callable[[Task, Sequence[tuple[str, str]]], list[float]]
"""Pairs of (text, query) to logits of one task."""


def torch_scorer(checkpoint: Path) -> Scorer:
    from training.reader.model import Encoding, logits
    from training.reader.mpnet import load

    model, encode = load(checkpoint), Encoding()

    def score(task: Task, pairs: Sequence[tuple[str, str]]) -> list[float]:
        column: list[float] = logits(model, encode, pairs)[:, TASKS.index(task)].tolist()
        return column

    return score


def onnx_scorer(folder: Path, threads: int) -> Scorer:
    from intrinsics_core.embedded.models.cross_encoder import CrossEncoder

    model = CrossEncoder(folder, threads=threads)

    def score(task: Task, pairs: Sequence[tuple[str, str]]) -> list[float]:
        if task == "answers":  # asked as (question, passage)
            return model.logits("answers", [(query, text) for text, query in pairs])
        return model.logits("entailment" if task == "support" else "meant", pairs)

    return score


def standardised(values: Sequence[float]) -> list[float]:
    mean, spread = statistics.fmean(values), statistics.pstdev(values) or 1.0
    return [(v - mean) / spread for v in values]


def error(area: float, labels: Sequence[bool]) -> float:
    """Standard error of an AUROC (Hanley and McNeil 1982)."""
    positive = sum(labels)
    negative = len(labels) - positive
    q1, q2 = area / (2 - area), 2 * area * area / (1 + area)
    spread = area * (1 - area) + (positive - 1) * (q1 - area**2) + (negative - 1) * (q2 - area**2)
    return math.sqrt(max(0.0, spread) / (positive * negative))


def measured(score: Scorer, some: Sequence[Example]) -> dict[str, float]:
    """AUROCs of one table, and how many of its rows are true."""
    pairs = [pair for e in some for pair in e.pairs]
    flat = iter(score(some[0].task, pairs))
    joined = [(min if e.join == "min" else max)([next(flat) for _ in e.pairs]) for e in some]
    labels, words = [e.label > 0.5 for e in some], [e.coverage for e in some]
    if len(set(labels)) < 2:
        return {}
    both = [a + b for a, b in zip(standardised(joined), standardised(words), strict=True)]
    area = auroc(joined, labels)
    return {
        "n": len(some),
        "true": round(sum(labels) / len(labels), 2),
        "coverage": round(auroc(words, labels), 3),
        "reader": round(area, 3),
        "both": round(auroc(both, labels), 3),
        "error": round(error(area, labels), 3),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("model", type=Path)
    parser.add_argument("--data", type=Path, default=os.environ.get("RAG_INTRINSICS_DATA"))
    parser.add_argument("--wordnet", type=Path)
    parser.add_argument("--limit", type=int, default=800, help="examples of a table")
    parser.add_argument("--only", nargs="*", help="names of tables")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    if args.data is None:
        raise SystemExit("no data folder: pass --data or set RAG_INTRINSICS_DATA")

    from training.reader.wordnet import WordNet, load

    if (args.model / "model.onnx").is_file():
        score = onnx_scorer(args.model, args.threads)
    else:
        import torch

        torch.set_num_threads(args.threads)
        score = torch_scorer(args.model)
    net = load(args.wordnet) if args.wordnet else WordNet()
    found: dict[str, dict[str, float | str]] = {}
    print(f"{'table':32} {'trained on':14} {'n':>5} {'true':>5} {'words':>6} {'reader':>7} {'both':>6}  s.e.")
    for name, (_, near) in TABLES.items():
        if args.only and name not in args.only:
            continue
        some = examples(name, Path(args.data), net, args.limit)
        row = measured(score, some)
        if not row:
            continue
        found[name] = {"trained on": near, **row}
        print(
            f"{name:32} {near:14} {row['n']:5} {row['true']:5.2f} {row['coverage']:6.3f} {row['reader']:7.3f} "
            f"{row['both']:6.3f}  {row['error']:.3f}",
            flush=True,
        )
        kinds = sorted({e.kind for e in some} - {""})
        for kind in kinds:
            part = measured(score, [e for e in some if e.kind == kind])
            if part:
                found[f"{name}: {kind}"] = {"trained on": near, **part}
                print(f"    {kind:43} {part['n']:5} {part['true']:5.2f} {part['coverage']:6.3f} {part['reader']:7.3f}")
    if args.json:
        args.json.write_text(json.dumps(found, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
