"""Every compiled pattern of the package on text made to hurt it: CPU time for n characters and for 4n.

    python -m benchmarks.patterns                  the worst text of each pattern, as a table
    python -m benchmarks.patterns --characters 400000

A backtracking engine can need time in proportion to the square of a text, or worse. Each pattern is searched for
(``sub`` over all of the text) and matched at its beginning and as a whole, on texts that repeat one unit, with each of
the pattern's own words before them and an end that fits nothing. Measured is CPU time, each the least of three runs,
and only where it can be told from noise: a pattern that needs less than 5 ms for 4n characters is linear for all ends.
"""

from __future__ import annotations

import argparse
import sys

from tests.patterns import patterns, worst


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--characters", type=int, default=100_000, help="4 n")
    args = parser.parse_args()
    rows = []
    for name, pattern in patterns().items():
        print(name, file=sys.stderr, flush=True)
        rows.append((name, worst(pattern, args.characters)))
    print("| pattern | slowest text | call | ms for n | ms for 4n | ratio |")
    print("|---|---|---|---|---|---|")
    for name, found in sorted(rows, key=lambda row: -row[1].ratio):
        shown = name.removeprefix("intrinsics_core.")
        told = f"{found.ratio:.1f}" if found.four > 0.005 else "too short to tell"
        print(
            f"| `{shown}` | `{found.text}` | {found.how} | {found.once * 1e3:.1f} | {found.four * 1e3:.1f} | {told} |"
        )


if __name__ == "__main__":
    main()
