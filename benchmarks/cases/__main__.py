"""What share of each kind of case comes out as expected, of the held rows and of those to fit on.

    python -m benchmarks.cases [--write COMMIT]

`--write`: rates.json anew, with what `tests/test_cases.py` asks of the held rows: the rate of that commit, or .90 where
that is less.
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
    parts = [
        cases.rates(
            {name: [row for kind in kinds for row in cases.rows(kind, of_held=held)] for name, kinds in some.items()},
            partial(outcomes, commit=commit),
        )
        for some in [cases.groups()]
        for held in (True, False)
    ]
    print("| kind | held | | to fit on | |\n|---|---|---|---|---|")
    for name in parts[0]:
        cells = (f"{part[name].right / max(1, part[name].of):.3f} | {part[name].of}" for part in parts)
        print(f"| {name} | {' | '.join(cells)} |")
    if commit:
        asked = {
            name: {"at_least": min(ENOUGH, int(1000 * rate.right / rate.of) / 1000), "n": rate.of}
            for name, rate in parts[0].items()
        }
        (cases.FOLDER / "rates.json").write_text(json.dumps(asked, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
