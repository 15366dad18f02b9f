"""What the reader costs: an answer of eight sentences against five passages of about 150 tokens, texts always new.

    python -m benchmarks.reader_speed [--rounds 5] [--reader FOLDER]

With the reader and without take turns within each round, so that whatever else the machine does falls on both alike.
CPU time of the process, all threads together; medians, and the ratio. What is clearly not supported, as made-up
sentences are, is read least; so some answers of the everyday sets are judged, too (means). Memory is the most that a
process of its own held.
"""

from __future__ import annotations

import argparse
import random
import statistics
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.quality_everyday import Answered, read
from intrinsics_core import answerability, hallucination_detection, run
from intrinsics_core.embedded.runtime import EmbeddedRuntime
from intrinsics_core.embedded.words import background

PASSAGES, SENTENCES = 5, 8
ANSWERS = 12
"""Answers of an everyday set, evenly spaced."""


def texts(draw: random.Random) -> tuple[str, list[str]]:
    """An answer and passages of made-up sentences of 12 to 18 common words, never the same twice."""
    words = sorted(w for w, rarity in background().table.items() if w.isalpha() and w.isascii() and rarity < 6)

    def sentence() -> str:
        return " ".join(draw.choices(words, k=draw.randint(12, 18))).capitalize() + "."

    return " ".join(sentence() for _ in range(SENTENCES)), [
        " ".join(sentence() for _ in range(8)) for _ in range(PASSAGES)
    ]


def cpu(runtime: EmbeddedRuntime, gate: bool, answer: str, passages: list[str]) -> float:
    begun = time.process_time()
    question = {"role": "user", "content": passages[0].split(".")[0] + "?"}
    if gate:
        run(answerability([question], passages), runtime)
    else:
        run(hallucination_detection([question, {"role": "assistant", "content": answer}], passages), runtime)
    return time.process_time() - begun


def spent_on(row: Answered, runtime: EmbeddedRuntime) -> float:
    turns = [{"role": "user", "content": row.question}, {"role": "assistant", "content": row.answer}]
    begun = time.process_time()
    run(hallucination_detection(turns, row.documents), runtime)
    return time.process_time() - begun


def memory(field: str) -> float:
    """A field of this process's status, MB. (What getrusage says is the parent's, where that held more.)"""
    status = Path("/proc/self/status").read_text("utf-8")
    return next(int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith(field))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--reader", type=Path, help="a reader folder; left out, the one that ships")
    parser.add_argument("--alone", choices=("with", "without"), help="one call in this process: prints its memory")
    args = parser.parse_args()
    kinds = {"without": EmbeddedRuntime(reader=False), "with": EmbeddedRuntime(reader=args.reader)}
    if not kinds["with"].has_reader:
        sys.exit("no reader: name its folder with --reader")
    draw = random.Random(0)
    if args.alone:
        # What follows is the models' own. (NLTK, which `words` needs, imports SciPy and scikit-learn where they are
        # installed: 90 MB.)
        import onnxruntime  # noqa: F401
        import tokenizers  # noqa: F401

        from intrinsics_core.embedded import relevance, support, words  # noqa: F401

        before = memory("VmRSS")
        kinds[args.alone].warm_up()
        loaded = memory("VmRSS")
        cpu(kinds[args.alone], False, *texts(draw))
        print(loaded - before, memory("VmHWM"))
        return
    for runtime in kinds.values():
        runtime.warm_up()
    print("| | without, ms | with, ms | ratio |\n|---|---|---|---|")
    for name, gate in (("hallucination detection", False), ("answerability", True)):
        spent: dict[str, list[float]] = {kind: [] for kind in kinds}
        for _ in range(args.rounds):
            for kind, runtime in kinds.items():
                spent[kind].append(1000 * cpu(runtime, gate, *texts(draw)))
        without, with_it = (statistics.median(spent[kind]) for kind in ("without", "with"))
        print(f"| {name} | {without:.0f} | {with_it:.0f} | {with_it / without:.2f} |")
    for name in ("plain", "long"):
        rows = read(name, None)[0]
        some = rows[:: max(1, len(rows) // ANSWERS)]
        took = [[1000 * spent_on(row, kinds[kind]) for kind in ("without", "with")] for row in some]
        without, with_it = (statistics.fmean(each) for each in zip(*took, strict=True))
        print(f"| {name}: {len(some)} answers | {without:.0f} | {with_it:.0f} | {with_it / without:.2f} |")
    command = [sys.executable, "-m", "benchmarks.reader_speed", "--alone"]
    more = ["--reader", str(args.reader)] if args.reader else []
    held = [
        [
            float(v)
            for v in subprocess.run([*command, kind, *more], check=True, capture_output=True, text=True).stdout.split()
        ]
        for kind in kinds
    ]
    print(f"\nmemory of the models once loaded, MB: {held[0][0]:.0f} without, {held[1][0]:.0f} with a reader")
    print(f"most memory of a process that judged an answer, MB: {held[0][1]:.0f} without, {held[1][1]:.0f} with")


if __name__ == "__main__":
    main()
