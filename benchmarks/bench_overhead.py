"""What a table costs beyond its calls: `intrinsics bench`'s loop beside a bare `run_many` of the same calls.

    python -m benchmarks.bench_overhead [--cases 500] [--rounds 5]

The cases are of HaluEval, and the runtime answers at once from a script: nothing but the loops is measured. CPU time,
the two taking turns; then the report over what was seen, with its intervals and baselines. Reads the folder named by
RAG_INTRINSICS_DATA.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from typing import Any

from intrinsics_core.bench import table
from intrinsics_core.bench.reporting import report
from intrinsics_core.bench.running import cases_of, encode, run_cases, seen
from intrinsics_core.running.execution import run_many
from intrinsics_core.runtimes.scripted import Scripted


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    folder = os.environ.get("RAG_INTRINSICS_DATA")
    if not folder:
        sys.exit("skipped: RAG_INTRINSICS_DATA does not name the data folder (see docs/data.md)")
    cases, _ = cases_of(table("uncertainty"), folder, limit=asked.cases, sets=["halueval"])
    runtime = Scripted(lambda request: {"correct": "yes", "confidence": 0.75})
    bare, ours = [], []
    rows: dict[int, Any] = {}

    def put(number: int, row: Any, failed: bool) -> None:
        rows[number] = row
        encode(row)

    for _ in range(asked.rounds):
        begin = time.process_time()
        run_many((case.call() for case in cases), runtime)
        middle = time.process_time()
        run_cases(cases, runtime, put)
        bare.append(middle - begin)
        ours.append(time.process_time() - middle)
    begin = time.process_time()
    report(
        table("uncertainty"), cases, seen(rows[i] for i in range(len(cases))), runtime="scripted", profile="prompted"
    )
    drawn = time.process_time() - begin
    plain, with_bench = statistics.median(bare), statistics.median(ours)
    print("| cases | bare `run_many`, CPU s | bench's loop, CPU s | ratio | a case more, ms | report, CPU s |")
    print("|---|---|---|---|---|---|")
    more = (with_bench - plain) / len(cases) * 1000
    print(f"| {len(cases)} | {plain:.3f} | {with_bench:.3f} | {with_bench / plain:.2f} | {more:.3f} | {drawn:.2f} |")


if __name__ == "__main__":
    main()
