"""Speed of the shipped reader, and that a score never depends on what else is in the call.

    python -m benchmarks.reader_pairs [READER] [--pairs 40] [--rounds 5]

Pairs of made-up text, by the words of both texts together: milliseconds of CPU time a pair (all cores together: what a
busy machine leaves comparable), and pairs a second by the clock with one thread and with every core. Median over the
rounds; the lengths take turns within each. Last line: the largest difference between a pair's logit alone and among all
the others, which must be 0.
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
from pathlib import Path

from intrinsics_core.embedded.models.cross_encoder import CrossEncoder
from intrinsics_core.embedded.words import background

SHIPPED = Path(__file__).resolve().parent.parent / "intrinsics_core" / "data" / "reader"
LENGTHS = (20, 40, 70, 100)


def pairs(words: int, count: int) -> list[tuple[str, str]]:
    """(source, claim) of common words, the claim a quarter of them; the same ones on every machine."""
    common = sorted(w for w, rarity in background().table.items() if w.isalpha() and w.isascii() and rarity < 6)
    draw, claim = random.Random(words), words // 4

    def text(length: int) -> str:
        return " ".join(draw.choice(common) for _ in range(length)).capitalize() + "."

    return [(text(words - claim), text(claim)) for _ in range(count)]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("reader", type=Path, nargs="?", default=SHIPPED)
    parser.add_argument("--pairs", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    with CrossEncoder(args.reader, threads=1, cache_size=0) as alone, CrossEncoder(args.reader, cache_size=0) as every:
        begun = time.process_time()
        alone.logits("entailment", [("Loaded.", "Loaded?")])
        loading = time.process_time() - begun
        every.logits("entailment", [("Loaded.", "Loaded?")])
        texts = {words: pairs(words, args.pairs) for words in LENGTHS}
        spent: dict[tuple[int, str], list[float]] = {}
        for _ in range(args.rounds):
            for words, some in texts.items():
                for name, reader in (("one", alone), ("all", every)):
                    cpu, wall = time.process_time(), time.perf_counter()
                    reader.logits("entailment", some)
                    if name == "one":
                        spent.setdefault((words, "cpu"), []).append(time.process_time() - cpu)
                    spent.setdefault((words, name), []).append(time.perf_counter() - wall)
        print(f"{args.reader.name}: {loading:.2f} s of CPU time to load; threads of the last column: {every.threads}")
        print("words   ms of CPU a pair   pairs a second, one thread   every core")
        for words in LENGTHS:
            cpu, one, all_ = (statistics.median(spent[words, n]) / args.pairs for n in ("cpu", "one", "all"))
            print(f"{words:5} {1000 * cpu:18.2f} {1 / one:28.0f} {1 / all_:12.0f}")
        mixed = [pair for some in texts.values() for pair in some[:10]]
        together = every.logits("entailment", mixed)
        single = [alone.logits("entailment", [pair])[0] for pair in mixed]
        print("largest difference of a logit alone and among others:", max(
            abs(a - b) for a, b in zip(together, single, strict=True)
        ))  # fmt: skip


if __name__ == "__main__":
    main()
