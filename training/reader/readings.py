"""Fit how a reading of a question is picked, and measure it beside the rules.

    python -m training.reader.readings READER --data $RAG_INTRINSICS_DATA [--limit 280] [--out FILE]

Over conversations that no reader was trained on. A row's options are to leave the question alone and each of its
`readings`; what counts is what the reader says of it, how early it was proposed (the likelier phrases come first) and
whether the rules say the same. One softmax over the options (conditional logit, McFadden 1974); the target is a reading
that says what a person's rewrite says, or to leave the question alone where there is none. A reading is taken where it
and those that say the same in one word less or more reach `TAKEN` together, or where reader and rules agree on it. The
table is of five folds: *right* says what the person's rewrite says, *harmful* something else. Writes the head
`readings` and prints it.
"""

from __future__ import annotations

import argparse
import json
import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from intrinsics_core.embedded.models.cross_encoder import CrossEncoder
from intrinsics_core.embedded.rewrite.standing_alone import OPTIONS, ChoiceOfReading, choice
from training.reader.data import LICENCES, Turn, turns
from training.reader.makers import agrees
from training.reader.prose import content

FOLDS = 5
RIDGE = 0.02
TAKEN = 0.75
COLUMNS = ("right", "between", "harmful", "left alone", "left alone, rightly")
Array = NDArray[np.float64]


@dataclass(frozen=True)
class Case:
    """A question with its readings, and the features of these options."""

    row: Turn
    choice: ChoiceOfReading
    options: Array

    @property
    def right(self) -> list[int]:
        """The options that are right."""
        return [i for i, text in enumerate(self.choice.asked) if i and agrees(text, self.row) == 1.0] or [0]


def cases(rows: Sequence[Turn], reader: CrossEncoder) -> list[Case]:
    """The rows; one whose question leans on nothing, or has no readings, has one option: to be left alone."""
    found = []
    for row in rows:
        asked = choice(row.dialog)
        logits = reader.logits("meant", asked.pairs) if asked.pairs else [0.0]
        found.append(Case(row, asked, np.array(asked.options(logits))))
    return found


def fit(some: Sequence[Case]) -> Array:
    """Weights (features,) of the softmax."""

    def loss(w: Array) -> tuple[float, Array]:
        total, slope = RIDGE * len(some) / 100 * float(w @ w), RIDGE * len(some) / 50 * w
        for case in some:
            p = _shares(case, w)
            right = case.right
            total -= float(np.log(p[right].sum()))
            wanted = np.zeros(len(p))
            wanted[right] = p[right] / p[right].sum()
            slope = slope + case.options.T @ (p - wanted)
        return total, slope

    return np.asarray(minimize(loss, np.zeros(len(OPTIONS)), jac=True, method="L-BFGS-B").x)


def _shares(case: Case, w: Array) -> Array:
    z = case.options @ w
    e = np.exp(z - z.max())
    return np.asarray(e / e.sum())


def picked(case: Case, w: Array, least: float = TAKEN) -> str:
    """The question as it is made to stand alone."""
    return case.choice.asked[case.choice.taken(case.options.tolist(), _shares(case, w).tolist(), least)]


def verdict(question: str, row: Turn) -> str:
    """What a changed or unchanged question is worth beside a person's rewrite."""
    if question.strip() == row.question.strip():
        return "left alone, rightly" if content(row.rewrite) == content(row.question) else "left alone"
    label = agrees(question, row)
    return "right" if label == 1.0 else "harmful" if label == 0.0 else "between"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("reader", type=Path)
    parser.add_argument("--data", type=Path, default=os.environ.get("RAG_INTRINSICS_DATA"))
    parser.add_argument("--out", type=Path, default=Path("intrinsics_core/data/heads/readings.json"))
    parser.add_argument("--limit", type=int, default=280, help="conversations of each set")
    args = parser.parse_args()
    if args.data is None:
        raise SystemExit("no data folder: pass --data or set RAG_INTRINSICS_DATA")

    reader, rng = CrossEncoder(args.reader), Random(1)
    every = [row for part in ("dev", "held") for row in turns(Path(args.data), part)]
    by_set = {name: [row for row in every if row.set == name] for name in dict.fromkeys(row.set for row in every)}
    some = cases([row for rows in by_set.values() for row in rng.sample(rows, min(args.limit, len(rows)))], reader)
    rng.shuffle(some)
    tables: dict[tuple[str, str], Counter[str]] = {}
    for fold in range(FOLDS):
        w = fit([case for i, case in enumerate(some) if i % FOLDS != fold])
        for case in some[fold::FOLDS]:
            methods = {"rules": case.choice.by_rules, "picked": picked(case, w)} | {
                f"picked at {least}": picked(case, w, least) for least in (0.6, 0.7, 0.75, 0.9)
            }
            for method, question in methods.items():
                tables.setdefault((case.row.set, method), Counter())[verdict(question, case.row)] += 1
    print(f"{'set':16} {'method':16} " + " ".join(f"{name:>12}" for name in COLUMNS))
    for (name, method), found in sorted(tables.items()):
        print(f"{name:16} {method:16} " + " ".join(f"{found[column]:12}" for column in COLUMNS))
    for name in by_set:
        leaning = [c for c in some if c.row.set == name and content(c.row.rewrite) != content(c.row.question)]
        print(f"{name}: a right reading is among those proposed for {sum(c.right != [0] for c in leaning)}"
              f" of {len(leaning)} that need one")  # fmt: skip
    both = {method: sum((t for (_, m), t in tables.items() if m == method), Counter()) for _, method in tables}
    head: dict[str, Any] = {
        "name": "readings",
        "version": 1,
        "features": list(OPTIONS),
        "weights": [round(float(v), 4) for v in fit(some)],
        "bias": 0.0,
        "thresholds": {"taken": TAKEN},
        "trained_on": [{"set": n, "licence": LICENCES[n], "rows": sum(c.row.set == n for c in some)} for n in by_set],
        "validation": {method: {column: both[method][column] for column in COLUMNS} for method in ("rules", "picked")},
        "method": "conditional logit over the readings of a question, five folds (training/reader/readings.py)",
        "reader": reader.name,
    }
    args.out.write_text(json.dumps(head, indent=2) + "\n", "utf-8")
    print(json.dumps(head, indent=2))


if __name__ == "__main__":
    main()
