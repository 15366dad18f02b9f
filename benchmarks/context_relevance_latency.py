"""Ten context-relevance judgements beside one, against a server that takes 100 ms a reply: ``python -m
benchmarks.context_relevance_latency``. They are one wave, so ten should take about as long as one (aim: 1.3 times).
"""

from __future__ import annotations

import argparse
import statistics
import time

from benchmarks.loopback import running
from intrinsics_core import context_relevance, run
from intrinsics_core.runtimes.server import ServerRuntime

REPLY = '{"context_relevance": "relevant", "confidence": 0.9}'
QUESTION = [{"role": "user", "content": "When was the lighthouse at Cape Arden built?"}]


def seconds(engine: ServerRuntime, documents: int, rounds: int) -> float:
    """Median wall time of one call."""
    texts = [f"Passage {i}: the lighthouse at Cape Arden has {i} rooms." for i in range(documents)]
    times = []
    for _ in range(rounds):
        begun = time.perf_counter()
        judged = run(context_relevance(QUESTION, texts), engine)
        times.append(time.perf_counter() - begun)
        assert len(judged.judgements) == documents
    return statistics.median(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--delay", type=float, default=0.1, help="seconds the server takes")
    parser.add_argument("--rounds", type=int, default=15)
    args = parser.parse_args()
    with running(delay=args.delay, text=REPLY) as url, ServerRuntime(url) as engine:
        seconds(engine, 10, 2)  # imports, connections
        one, ten = (seconds(engine, documents, args.rounds) for documents in (1, 10))
    print("| judgements | median seconds | ratio |\n|---:|---:|---:|")
    print(f"| 1 | {one:.3f} | 1.00 |\n| 10 | {ten:.3f} | {ten / one:.2f} |")


if __name__ == "__main__":
    main()
