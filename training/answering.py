"""Fit the answering head: does a passage answer a question?

    python -m training.answering --data $RAG_INTRINSICS_DATA --out intrinsics_core/data/heads/answering.json

Logistic regression over `answering.FEATURES` on SQuAD 2.0 (CC BY-SA 4.0) and CLAPNQ (Apache-2.0; text Wikipedia,
CC BY-SA), each set with the same total weight however many rows it has; CLAPNQ with and without the title in front of
the passage, since users pass both. Validated by five folds that keep an article's
questions together, and by leaving one set out.
"""

from __future__ import annotations

import argparse
import gzip
import json
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from intrinsics_core.embedded.answering import FEATURES, features
from intrinsics_core.embedded.encoder import Encoder
from intrinsics_core.embedded.ranking import with_title
from intrinsics_core.evaluation.calibration import quality, weighted_f1

FOLDS = 5
LICENCES = {"squad2_dev_b": "CC BY-SA 4.0", "clapnq_dev": "Apache-2.0 (text: Wikipedia CC BY-SA)"}
Array = NDArray[Any]


@dataclass(frozen=True)
class Pair:
    """A question, one passage, whether the passage answers it, and the article it comes from."""

    question: str
    passage: str
    label: bool
    group: str


def rows(folder: Path, name: str) -> list[dict[str, Any]]:
    """Rows of one file of the data folder."""
    with gzip.open(folder / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def squad(folder: Path) -> list[Pair]:
    return [Pair(r["question"], r["context"], bool(r["answerable"]), r["title"]) for r in rows(folder, "squad2_dev_b")]


def clapnq(folder: Path) -> list[Pair]:
    return [
        Pair(r["question"], with_title(" ".join(r["sentences"]), title), bool(r["answerable"]), r["title"])
        for r in rows(folder, "clapnq_dev")
        for title in (None, r["title"])
    ]


SETS = {"squad2_dev_b": squad, "clapnq_dev": clapnq}


def measured(pairs: list[Pair], encoder: Encoder) -> tuple[Array, Array, Array]:
    """Features, labels, and the fold of each pair (by article)."""
    questions = encoder.encode([p.question for p in pairs], kind="query")
    passages = encoder.encode([p.passage for p in pairs], kind="passage")
    x = np.array([features(p.question, p.passage, q, v) for p, q, v in zip(pairs, questions, passages, strict=True)])
    folds = np.array([zlib.crc32(p.group.encode()) % FOLDS for p in pairs])
    return x, np.array([p.label for p in pairs]), folds


def fit(parts: list[tuple[Array, Array]]) -> tuple[Array, float]:
    """Weights over raw features, and bias; every part has the same say."""
    from sklearn.linear_model import LogisticRegression

    x, y = np.concatenate([x for x, _ in parts]), np.concatenate([y for _, y in parts])
    say = np.concatenate([np.full(len(y), 1.0 / len(y)) for _, y in parts])
    say *= len(y) / say.sum()
    mean, spread = x.mean(0), x.std(0) + 1e-9
    model = LogisticRegression(C=0.3, max_iter=2000).fit((x - mean) / spread, y, sample_weight=say)
    weights = model.coef_[0] / spread
    return weights, float(model.intercept_[0] - weights @ mean)


def predict(x: Array, weights: Array, bias: float) -> Array:
    return np.asarray(1.0 / (1.0 + np.exp(-(x @ weights + bias))))


def scores(y: Array, p: Array, threshold: float = 0.5) -> dict[str, float]:
    found = quality(p, y)
    return {
        "weighted_f1": round(weighted_f1(y, p >= threshold), 3),
        "auroc": round(found.auroc, 3),
        "ece": round(found.ece or 0.0, 3),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=Path("intrinsics_core/data/heads/answering.json"))
    args = parser.parse_args()

    with Encoder() as encoder:
        pairs = {name: read(args.data) for name, read in SETS.items()}
        data = {name: measured(some, encoder) for name, some in pairs.items()}
    validation: dict[str, Any] = {}
    held: dict[str, Array] = {name: np.zeros(len(y)) for name, (_, y, _) in data.items()}
    for fold in range(FOLDS):
        weights, bias = fit([(x[f != fold], y[f != fold]) for x, y, f in data.values()])
        for name, (x, _, f) in data.items():
            held[name][f == fold] = predict(x[f == fold], weights, bias)
    for name, (x, y, _) in data.items():
        others = [(a, b) for other, (a, b, _) in data.items() if other != name]
        cosine = [(a[:, :1], b) for a, b, _ in data.values()]
        validation[name] = {
            "five folds": scores(y, held[name]),
            "fitted on the other set": scores(y, predict(x, *fit(others))),
            "cosine alone": scores(y, predict(x[:, :1], *fit(cosine))),
        }
    weights, bias = fit([(x, y) for x, y, _ in data.values()])
    head = {
        "name": "answering",
        "version": 1,
        "features": list(FEATURES),
        "weights": [round(float(w), 4) for w in weights],
        "bias": round(bias, 4),
        # Probabilities are of "answers the question" where half of the passages do; .5 is the point of indifference.
        "thresholds": {"relevant": 0.5, "partial": 0.3, "answerable": 0.5},
        "trained_on": [{"set": name, "licence": LICENCES[name], "rows": len(some)} for name, some in pairs.items()],
        "validation": validation,
        "method": "logistic regression, equal weight per set (training/answering.py)",
    }
    args.out.parent.mkdir(parents=True, exist_ok=True)
    args.out.write_text(json.dumps(head, indent=2) + "\n", "utf-8")
    print(json.dumps(head, indent=2))


if __name__ == "__main__":
    main()
