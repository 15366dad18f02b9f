"""What a ranking by a language model costs: calls, waves and tokens per mode, for 10, 20 and 50 documents.

    python -m benchmarks.reranking_modes [--characters 800]

The model is scripted: it answers by the documents' numbers, so the counts are exact and the order is known. Words are
counted as 4 characters a token, in what is sent (system turn, conversation and documents) and in what comes back. A
wave is what is asked side by side: waves follow one another, so they are what a server's latency multiplies.
``right at the top`` is how many of the best five stand in the first five places.
"""

from __future__ import annotations

import argparse
import json
import random
from typing import Any

from benchmarks.audit import counting
from intrinsics_core import reranking, run
from intrinsics_core.profiles.asking import data_of
from intrinsics_core.protocol.requests import Generate

SIZES = (10, 20, 50)
MODES: dict[str, dict[str, Any]] = {
    "listwise": {"mode": "listwise"},
    "listwise, both orders": {"mode": "listwise", "both_orders": True},
    "pointwise": {"mode": "pointwise"},
    "pairwise": {"mode": "pairwise"},
    "pairwise, both orders": {"mode": "pairwise", "both_orders": True},
}
_CHARACTERS_A_TOKEN = 4


def number(document: dict[str, str]) -> int:
    return int(document["text"].split()[0])


def judge(request: Generate) -> str:
    """A perfect judge: the larger number is better."""
    assert request.messages is not None
    shown = data_of(request.messages[-1].content)
    if "passages" in shown:
        a, b = (number(shown["passages"][name]) for name in "AB")
        return json.dumps({"preferred": "A" if a > b else "B", "confidence": 1})
    if "document" in shown:
        return json.dumps({"context_relevance": "relevant", "confidence": 0.5 + number(shown["document"]) / 1000})
    best_first = sorted(shown["documents"], key=number, reverse=True)
    return json.dumps({"ranking": [document["id"] for document in best_first]})


def measured(count: int, characters: int, options: dict[str, Any]) -> str:
    order = list(range(count))
    random.Random(count).shuffle(order)
    texts = [f"{n} {'word ' * (characters // 5)}" for n in order]
    runtime, spent = counting(judge)
    result = run(reranking([{"role": "user", "content": "Which number is the largest?"}], texts, **options), runtime)
    top = sum(order[row.index] >= count - 5 for row in result.ranking[:5])
    tokens = [round(spent[way] / _CHARACTERS_A_TOKEN) for way in ("in", "out")]
    return f"{len(runtime.requests)} | {len(runtime.waves)} | {tokens[0]:,} | {tokens[1]:,} | {top} of 5"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--characters", type=int, default=800, help="of each document")
    args = parser.parse_args()
    print("| mode | documents | calls | waves | tokens in | tokens out | right at the top |")
    print("|---|---|---|---|---|---|---|")
    for name, options in MODES.items():
        for count in SIZES:
            print(f"| {name} | {count} | {measured(count, args.characters, options)} |")


if __name__ == "__main__":
    main()
