"""How well the reader picks what a question means, beside the rules that need no reader.

    python -m training.reader.readings READER --data $RAG_INTRINSICS_DATA [--limit 300]

Over conversations that no reader was trained on: how many last questions are made to say what a person's rewrite says
(*right*), are changed to say something else (*harmful*), or are left alone. The two numbers of
`intrinsics_core.embedded.candidates` are chosen on the part for choosing (``--part dev``), and looked at on the held
one.
"""

from __future__ import annotations

import argparse
import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from intrinsics_core.embedded.candidates import LEAST, MARGIN, candidates, chosen, told
from intrinsics_core.embedded.reader import Reader
from intrinsics_core.embedded.rewriting import rewrite
from training.reader.data import Turn, turns
from training.reader.makers import agrees
from training.reader.prose import content


def verdict(question: str, row: Turn) -> str:
    """What a changed or unchanged question is worth beside a person's rewrite."""
    if question.strip() == row.question.strip():
        return "left alone, rightly" if content(row.rewrite) == content(row.question) else "left alone"
    label = agrees(question, row)
    return "right" if label == 1.0 else "harmful" if label == 0.0 else "between"


def counted(rows: Sequence[Turn], made: Callable[[Turn], str]) -> Counter[str]:
    """Verdicts over some rows."""
    return Counter(verdict(made(row), row) for row in rows)


def _picked(known: Mapping[int, tuple[list[str], list[float]]], least: float, margin: float, row: Turn) -> str:
    return chosen(row.question, *known[id(row)], least, margin)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("reader", type=Path)
    parser.add_argument("--data", type=Path, default=os.environ.get("RAG_INTRINSICS_DATA"))
    parser.add_argument("--part", choices=("dev", "held"), default="held")
    parser.add_argument("--limit", type=int, default=300, help="conversations of each set")
    args = parser.parse_args()
    if args.data is None:
        raise SystemExit("no data folder: pass --data or set RAG_INTRINSICS_DATA")

    reader = Reader(args.reader)
    every = turns(Path(args.data), args.part)
    print(f"{'set':16} {'method':28} {'n':>5} " + " ".join(f"{name:>12}" for name in _COLUMNS))
    for name in dict.fromkeys(row.set for row in every):
        rows = [row for row in every if row.set == name]
        rows = rows[:: max(1, -(-len(rows) // args.limit))]
        scored = [(row, readings, reader.logits("meant", [(told(row.dialog), q) for q in (row.question, *readings)]))
                  for row in rows for readings in [candidates(row.dialog)]]  # fmt: skip
        known = {id(row): (readings, logits) for row, readings, logits in scored}
        methods: dict[str, Callable[[Turn], str]] = {
            "rules": lambda row: rewrite(row.dialog).question,
            "likeliest phrase": lambda row: next(iter(candidates(row.dialog)), row.question),
        }
        steps = ((LEAST, MARGIN),) if args.part == "held" else [(a, b) for a in (-1, 0, 1) for b in (0, 1, 2, 3)]
        for least, margin in steps:
            methods[f"read, {least:+g}, {margin:+g}"] = partial(_picked, known, least, margin)
        for method, made in methods.items():
            found = counted(rows, made)
            print(f"{name:16} {method:28} {len(rows):5} " + " ".join(f"{found[column]:12}" for column in _COLUMNS))


_COLUMNS = ("right", "between", "harmful", "left alone", "left alone, rightly")


if __name__ == "__main__":
    main()
