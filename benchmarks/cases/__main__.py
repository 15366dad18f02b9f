"""What share of each kind of case comes out as expected, of the held rows and of those to fit on.

    python -m benchmarks.cases [--write COMMIT]

`--write`: rates.json anew, with what `tests/test_cases.py` asks of the held rows: the rate of that commit, or .90 where
that is less. A rate that this working tree does not reach stands beside it as `missed`.
"""

from __future__ import annotations

import argparse
import json
from functools import partial

from benchmarks import cases
from benchmarks.outcomes import outcomes

ENOUGH = 0.9


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--write", metavar="COMMIT", help="write rates.json by this commit's rates")
    commit = parser.parse_args().write
    groups = cases.groups()
    some = {
        held: {name: [r for kind in kinds for r in cases.rows(kind, of_held=held)] for name, kinds in groups.items()}
        for held in (True, False)
    }
    held, others = (cases.rates(each, outcomes) for each in some.values())
    print("| kind | held | | to fit on | |\n|---|---|---|---|---|")
    for name in groups:
        cells = (f"{part[name].right / max(1, part[name].of):.3f} | {part[name].of}" for part in (held, others))
        print(f"| {name} | {' | '.join(cells)} |")
    if commit:
        asked: dict[str, dict[str, float]] = {}
        for name, rate in cases.rates(some[True], partial(outcomes, commit=commit)).items():
            least, now = min(ENOUGH, share(rate)), share(held[name])
            asked[name] = {"at_least": least, "n": rate.of} | ({"missed": now} if now < least else {})
        (cases.FOLDER / "rates.json").write_text(json.dumps(asked, indent=1) + "\n", "utf-8")


def share(rate: cases.Rate) -> float:
    """Rounded down, so that the rate itself reaches it."""
    return int(1000 * rate.right / rate.of) / 1000


if __name__ == "__main__":
    main()
