"""CPU time and peak memory of every intrinsic on the embedded runtime, as documents grow.

    python -m benchmarks.growth                               a table: documents 10 ... 10,000, characters 1k ... 10M
    python -m benchmarks.growth --intrinsics reranking --characters 1000 100000
    python -m benchmarks.growth --one citations 1 10000000    one measurement: CPU seconds, MiB above the models

Each measurement is a process of its own, so that its peak is its own. Memory is counted above the loaded models, time
is CPU time of all threads. The prose is made: words as frequent as in English, sentences of some twenty words, always
the same.
"""

from __future__ import annotations

import argparse
import bisect
import json
import random
import resource
import subprocess
import sys
import time
from importlib.resources import files
from itertools import accumulate

DOCUMENTS = (10, 100, 1_000, 10_000)
CHARACTERS = (1_000, 10_000, 100_000, 1_000_000, 10_000_000)
EACH = 400  # characters of a document where documents are counted


def prose(characters: int, seed: int = 0) -> str:
    """So much text: the shipped table's words, the common ones often, in sentences and paragraphs."""
    rng = random.Random(seed)
    table = json.loads((files("intrinsics_core") / "data" / "idf.json").read_text("utf-8"))["idf"]
    words = sorted(table, key=table.__getitem__)[:30_000]
    weights = list(accumulate(1.0 / (rank + 3) for rank in range(len(words))))
    parts: list[str] = []
    size = 0
    while size < characters:
        count = rng.randint(8, 30)
        chosen = [words[bisect.bisect(weights, rng.random() * weights[-1])] for _ in range(count)]
        if rng.random() < 0.2:
            chosen[rng.randrange(count)] = str(rng.randint(1, 2026))
        sentence = " ".join(chosen).capitalize() + rng.choice((".", ".", ".", "?", ":"))
        parts.append(sentence + ("\n\n" if rng.random() < 0.15 else " "))
        size += len(parts[-1])
    return "".join(parts)[:characters]


def call(name: str, documents: list[str]):  # type: ignore[no-untyped-def]
    """The intrinsic on these documents; for those that take none the documents are earlier turns."""
    from intrinsics_core.intrinsics import INTRINSICS

    question = {"role": "user", "content": "Which people built it, and when was it finished?"}
    answer = {"role": "assistant", "content": "People built it in 1911. It was finished by the state after the war."}
    if name in ("query-rewrite", "query-expansion"):
        turns = [{"role": "assistant" if i % 2 else "user", "content": text} for i, text in enumerate(documents)]
        return INTRINSICS[name]([*turns, question])
    asks = name in ("context-relevance", "answerability", "reranking")
    return INTRINSICS[name]([question] if asks else [question, answer], documents)


def measure(name: str, count: int, characters: int) -> tuple[float, float]:
    """CPU seconds, and MiB above the models at the peak."""
    from intrinsics_core import run
    from intrinsics_core.embedded.runtime import EmbeddedRuntime

    text = prose(characters * count)
    documents = [text[i * characters : (i + 1) * characters] for i in range(count)]
    del text
    with EmbeddedRuntime() as runtime:
        run(call(name, ["A mill. It ground flour."]), runtime)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        begun = time.process_time()
        run(call(name, documents), runtime)
        return time.process_time() - begun, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024


def apart(name: str, count: int, characters: int) -> tuple[float, float]:
    command = [sys.executable, "-m", "benchmarks.growth", "--one", name, str(count), str(characters)]
    ended = subprocess.run(command, capture_output=True, text=True, check=True)
    seconds, memory = map(float, ended.stdout.split())
    return seconds, memory


def main() -> None:
    from intrinsics_core.intrinsics import INTRINSICS

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--one", nargs=3, metavar=("INTRINSIC", "DOCUMENTS", "CHARACTERS"))
    parser.add_argument("--intrinsics", nargs="+", default=list(INTRINSICS))
    parser.add_argument("--documents", nargs="*", type=int, default=DOCUMENTS, help=f"of {EACH} characters each")
    parser.add_argument("--characters", nargs="*", type=int, default=CHARACTERS, help="of one document")
    args = parser.parse_args()
    if args.one:
        print(*measure(args.one[0], int(args.one[1]), int(args.one[2])))
        return
    print("| intrinsic | documents | characters each | CPU s | CPU s per million characters | MiB above the models |")
    print("|---|---|---|---|---|---|", flush=True)
    shapes = [(count, EACH) for count in args.documents] + [(1, characters) for characters in args.characters]
    for name in args.intrinsics:
        for count, characters in shapes:
            seconds, memory = apart(name, count, characters)
            each = seconds / (count * characters) * 1e6
            print(f"| {name} | {count} | {characters} | {seconds:.2f} | {each:.1f} | {memory:.0f} |", flush=True)


if __name__ == "__main__":
    main()
