"""Every compiled pattern of the package on text made to hurt it: CPU time for n characters and for 4n.

    python -m benchmarks.patterns                  the worst text of each pattern, as a table
    python -m benchmarks.patterns --characters 400000

A backtracking engine can need time in proportion to the square of a text, or worse. Each pattern is searched for
(``sub`` over all of the text) and matched at its beginning and as a whole, on texts that repeat one unit, with each of
the pattern's own words before them and an end that fits nothing. Measured is CPU time, each the least of three runs,
and only where it can be told from noise: a pattern that needs less than 5 ms for 4n characters is linear for all ends.
The tests count steps of the same patterns on the same texts (`tests/steps.py`); this says what they take.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from dataclasses import dataclass
from typing import Any

from tests.patterns import patterns, texts


@dataclass(frozen=True)
class Measured:
    """The text on which a pattern is slowest, and CPU seconds for n and for 4n of it."""

    text: str
    how: str
    once: float
    four: float

    @property
    def ratio(self) -> float:
        """4 where time is in proportion (or too short to tell), 16 where it is to the square."""
        return self.four / self.once if self.four > 0.005 and self.once > 0 else 4.0


def _ways(pattern: re.Pattern[str]) -> dict[str, Any]:
    return {"sub": lambda text: pattern.sub("", text), "match": pattern.match, "fullmatch": pattern.fullmatch}


def seconds(work: Any, text: str) -> float:
    """Least CPU time of three runs, of one where it is long."""
    best = float("inf")
    for _ in range(3):
        begun = time.process_time()
        work(text)
        best = min(best, time.process_time() - begun)
        if best > 0.5:
            break
    return best


def slowest(pattern: re.Pattern[str], characters: int) -> Measured:
    """The slowest of all texts of 4 n = ``characters`` characters.

    Found at a fortieth of the length, where even a square is soon over.
    """
    small = characters // 40
    found = (0.0, "", "", "sub")
    for begin, unit in texts(pattern):
        text = begin + unit * (small // len(unit)) + "\x00"
        for how, work in _ways(pattern).items():
            spent = seconds(work, text)  # the least of three: one interrupt would choose another text
            if spent > found[0]:
                found = (spent, begin, unit, how)
    _, begin, unit, how = found
    n = characters // 4
    work = _ways(pattern)[how]
    once, four = (seconds(work, begin + unit * (k * n // max(1, len(unit))) + "\x00") for k in (1, 4))
    return Measured(f"{begin!r} + n * {unit!r}", how, once, four)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--characters", type=int, default=100_000, help="4 n")
    args = parser.parse_args()
    rows = []
    for name, pattern in patterns().items():
        print(name, file=sys.stderr, flush=True)
        rows.append((name, slowest(pattern, args.characters)))
    print("| pattern | slowest text | call | ms for n | ms for 4n | ratio |")
    print("|---|---|---|---|---|---|")
    for name, found in sorted(rows, key=lambda row: -row[1].ratio):
        shown = name.removeprefix("intrinsics_core.")
        ratio = f"{found.ratio:.1f}" if found.four > 0.005 else "too short to tell"
        print(
            f"| `{shown}` | `{found.text}` | {found.how} | {found.once * 1e3:.1f} | {found.four * 1e3:.1f} | {ratio} |"
        )


if __name__ == "__main__":
    main()
