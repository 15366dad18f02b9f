"""How far a reader tells a bare yes from a bare no, on yes-or-no questions about texts that it was not trained on.

    python -m training.reader.short_answers READER

The gap is the reader's logit of "No." less that of "Yes.", each behind the question, beside the text. Prints its
AUROC; for each answer how often it is let through where it is wrong and where it is right, by what it must win by; how
often a no is more than a doubt; and how often the contrary of an answer clearly wins: what
`intrinsics_core.embedded.short_answers` is set from.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from intrinsics_core.calibration.fitting import auroc
from intrinsics_core.embedded.models.cross_encoder import CrossEncoder
from intrinsics_core.embedded.short_answers import CLEARLY, weighed
from training.reader.written import Said, bare, said, shown

MARGINS = (-1.0, 0.0, 0.25, 0.5, 0.75, 1.0, 2.0)


def asked() -> list[tuple[Said, bool]]:
    """Yes-or-no questions of texts kept for choosing and held, and whether yes is right."""
    found = []
    for row in (*said("dev"), *said("held")):
        if short := bare(row):
            found.append((row, short.true == "Yes."))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("reader", type=Path)
    args = parser.parse_args()
    rows = asked()
    pairs = [
        (" ".join(shown(f"{row.question} {row.true}", row.sentences)), f"{row.question} {answer}")
        for row, _ in rows
        for answer in ("No.", "Yes.")
    ]
    logits = np.array(CrossEncoder(args.reader).logits("entailment", pairs)).reshape(-1, 2)
    gap, yes = logits[:, 0] - logits[:, 1], np.array([y for _, y in rows])
    print(f"{len(rows)} questions, {yes.mean():.0%} of them yes; AUROC of the gap {auroc(-gap, yes):.3f}")
    print(f"median gap where yes is right {np.median(gap[yes]):.1f}, where no is {np.median(gap[~yes]):.1f}")
    print("| wins by | yes passes where wrong | right | no passes where wrong | right |\n|---|---|---|---|---|")
    for margin in MARGINS:
        passed = [(gap < -margin)[~yes], (gap < -margin)[yes], (gap > margin)[yes], (gap > margin)[~yes]]
        print(f"| {margin:g} | " + " | ".join(f"{p.mean():.2f}" for p in passed) + " |")
    sure = np.array([weighed("No.", *pair) > 0 for pair in logits])
    print(f"a no is more than a doubt where wrong {sure[yes].mean():.2f}, where right {sure[~yes].mean():.2f}")
    ahead = [(gap > CLEARLY)[yes], (gap > CLEARLY)[~yes], (gap < -CLEARLY)[~yes], (gap < -CLEARLY)[yes]]
    told = ", ".join(f"{p.mean():.2f}" for p in ahead)
    print(f"clearly contrary: of right yes, wrong yes, right no, wrong no: {told}")


if __name__ == "__main__":
    main()
