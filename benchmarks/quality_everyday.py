"""What the default catches and misses on texts of the kind that people try first.

    python -m benchmarks.quality_everyday [--data FOLDER] [--reader FOLDER]

`everyday_dev.jsonl`: eight short texts (opening hours, leases, docs, history) with right answers and answers that
differ from the text by a number, a name, a negation, a role, a quantifier or a unit; and questions that it answers or
not.
Nothing was fitted on it. Through the public functions, as a user would call them; with the reader and without, beside
plain word coverage. It is small: one answer is two to four points, and the AUROCs have a standard error of about .08.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Sequence
from pathlib import Path

from intrinsics_core import answerability, hallucination_detection, run
from intrinsics_core.embedded.lexical import coverage, terms
from intrinsics_core.evaluation.calibration import auroc
from intrinsics_core.runtimes.embedded import EmbeddedRuntime

KEPT = 0.85  # share of right answers that a threshold is to keep


def passed(scores: Sequence[float], truth: Sequence[bool]) -> float:
    """Share of the wrong answers that pass where a threshold keeps `KEPT` of the right ones."""
    right = sorted(s for s, t in zip(scores, truth, strict=True) if t)
    least = right[int((1 - KEPT) * len(right))]
    wrong = [s for s, t in zip(scores, truth, strict=True) if not t]
    return sum(s >= least for s in wrong) / len(wrong)


def share(flags: Sequence[bool], truth: Sequence[bool], of: bool) -> float:
    chosen = [flag for flag, t in zip(flags, truth, strict=True) if t == of]
    return sum(chosen) / len(chosen)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("RAG_INTRINSICS_DATA"))
    parser.add_argument("--reader", type=Path, help="a reader folder; left out, the one that ships")
    args = parser.parse_args()
    if args.data is None:
        parser.error("name the data folder with --data or RAG_INTRINSICS_DATA")
    rows = [json.loads(line) for line in (Path(args.data) / "everyday_dev.jsonl").read_text("utf-8").splitlines()]
    answers = [
        (row["doc"], question, answer, bool(label))
        for row in rows
        for question, answer, label in (
            *((row["q"], a, True) for a in row["true"]),
            *((row["q"], a, False) for a in row["false"]),
            *row["other_a"],
        )
    ]
    asked = [(row["doc"], q, bool(label)) for row in rows for q, label in [(row["q"], True), *row["other_q"]]]
    truth, gate_truth = [a[3] for a in answers], [a[2] for a in asked]

    print(f"| {len(answers)} answers | AUROC | wrong passed at {KEPT:.0%} of the right kept "
          "| labelled faithful: right | wrong | unsure |")  # fmt: skip
    print("|---|---|---|---|---|---|")
    words = [coverage(terms(answer), terms(doc)) for doc, _, answer, _ in answers]
    print(f"| word coverage | {auroc(words, truth):.3f} | {passed(words, truth):.2f} | | | |")
    kinds = [("without a reader", EmbeddedRuntime(reader=False))]
    if (reading := EmbeddedRuntime(reader=args.reader)).has_reader:
        kinds.append(("with the reader", reading))
    for name, runtime in kinds:
        found = [
            run(
                hallucination_detection(
                    [{"role": "user", "content": question}, {"role": "assistant", "content": answer}], [doc]
                ),
                runtime,
            )
            for doc, question, answer, _ in answers
        ]
        scores = [0.0 if result.score is None else result.score for result in found]
        faithful = [result.label == "faithful" for result in found]
        print(
            f"| {name} | {auroc(scores, truth):.3f} | {passed(scores, truth):.2f} | {share(faithful, truth, True):.2f} "
            f"| {share(faithful, truth, False):.2f} | {sum(result.unsure for result in found)} |"
        )
    print(f"\n| {len(asked)} questions | AUROC | let through: answerable | not | unsure |\n|---|---|---|---|---|")
    held = [coverage(terms(question), terms(doc)) for doc, question, _ in asked]
    print(f"| word coverage | {auroc(held, gate_truth):.3f} | | | |")
    for name, runtime in kinds:
        gates = [run(answerability([{"role": "user", "content": q}], [doc]), runtime) for doc, q, _ in asked]
        through = [gate.answerable for gate in gates]
        print(
            f"| {name} | {auroc([gate.probability or 0.0 for gate in gates], gate_truth):.3f} "
            f"| {share(through, gate_truth, True):.2f} | {share(through, gate_truth, False):.2f} "
            f"| {sum(gate.unsure for gate in gates)} |"
        )


if __name__ == "__main__":
    main()
