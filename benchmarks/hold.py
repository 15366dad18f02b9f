"""What `StreamChecker(hold=True)` costs a reader: how long each sentence waits for its verdict.

    python -m benchmarks.hold [--rounds 5]

An answer of eight sentences over five passages is pushed word by word, without pauses between the words. CPU time of
the process from the word that closes a sentence to the event with its text, median over sentences and rounds; and of
the same stream without `hold`, where a word is seen at once. Texts are those of `benchmarks.reader_speed`, always new.
"""

from __future__ import annotations

import argparse
import random
import re
import statistics
import time

from benchmarks.reader_speed import texts
from intrinsics_core import StreamChecker
from intrinsics_core.embedded.runtime import EmbeddedRuntime


def waits(runtime: EmbeddedRuntime, hold: bool, answer: str, passages: list[str]) -> list[float]:
    """Milliseconds of CPU time before each event with text."""
    asked = [{"role": "user", "content": passages[0].split(".")[0] + "?"}]
    checker, found = StreamChecker(asked, passages, runtime=runtime, hold=hold), []
    begun = time.process_time()
    for event in checker.check(re.findall(r"\S+\s*", answer)):
        if event.text:
            found.append(1000 * (time.process_time() - begun))
            begun = time.process_time()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    rounds, draw = parser.parse_args().rounds, random.Random(0)
    for reader in (False, None):
        runtime = EmbeddedRuntime(reader=reader)
        waits(runtime, True, *texts(draw))  # loads the models
        found: dict[bool, list[float]] = {True: [], False: []}
        for _ in range(rounds):
            for hold in (True, False):
                found[hold] += waits(runtime, hold, *texts(draw))
        kind = "without the reader" if reader is False else "with the reader"
        print(f"{kind}: a sentence waits {statistics.median(found[True]):.0f} ms with hold, "
              f"a word {statistics.median(found[False]):.2f} ms without")  # fmt: skip


if __name__ == "__main__":
    main()
