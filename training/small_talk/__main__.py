"""Fit the heads that tell small talk from claims, and measure them beside the list of phrases alone.

    python -m training.small_talk --data $RAG_INTRINSICS_DATA [--out FOLDER] [--folds]

writes `small_talk.json` (from words alone), `small_talk_vector.json` (with the vector of the encoder that ships), and
two more of the name `small_talk_report` (does a sentence report something done for the user, called for or not).
Logistic regression with a ridge; what is to be found weighs three times. Beside the sentences of this folder that are
not held out stand claims and answers of the texts written for the reader (`training/reader/written`) and sentences of
real answers (`REAL`), all of them claims unless the phrases know them. The tables are of the held half, and of other
claims and answers of the written texts; ``--folds`` adds those of five folds of what is fitted, by which the numbers
below were chosen. `benchmarks/quality_small_talk.py` measures what ships.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from intrinsics_core.embedded.models.bi_encoder import BiEncoder
from intrinsics_core.embedded.scoring import small_talk
from intrinsics_core.embedded.scoring.claims import listed, surely_none
from intrinsics_core.embedded.words import claim
from intrinsics_core.text.layout import laid_out
from training.reader.data import CLAIMS, LICENCES
from training.reader.written import texts
from training.small_talk import REPORTS, TALK, Row, rows

Array = NDArray[np.float64]
FREQUENT, SEEN = 4, 5  # times that a word, and a feature, must be seen
SHARE = 4.0  # by how much a vector's numbers count more than the others, against the ridge
WANTED = 3.0  # weight of a sentence that is to be found
OTHERS = 0.5  # and of a claim of the other texts
FITTED, HELD = 4000, 4000  # claims of the other texts
REAL, ANSWERS = ("expertqa_claims", "begin"), 2500  # sets of real answers, and how many sentences of each
LEAST = 7  # words of them: shorter ones may be small talk that the phrases do not know
FOLDS = 5
THRESHOLDS = {
    "small_talk": {"listed": 0.2, "new": 0.8},
    "small_talk_vector": {"listed": 0.2, "new": 0.45},
    "small_talk_report": {"new": 0.3},
    "small_talk_report_vector": {"new": 0.25},
}


def others(part: str, count: int) -> list[str]:
    """Claims and answers of the texts written for the reader, a third of them of four words at most."""
    every = texts("train") if part == "fit" else [*texts("dev"), *texts("held")]
    said = {claim for t in every for pair in t.claims for claim in pair}
    said |= {answer for t in every for _, *answers in t.asked for answer in answers}
    known = sorted(text for text in said if makes_claim_by_list(text))
    Random(0).shuffle(known)
    short = [text for text in known if len(text.split()) <= 4]
    return [*short[: count // 3], *[t for t in known if len(t.split()) > 4]][:count]


def makes_claim_by_list(text: str) -> bool:
    """What was said before there was a head."""
    return not (fixed(text) or listed(text))


def real(folder: Path) -> dict[str, list[str]]:
    """Sentences of answers that language models gave, by set, without those that the phrases know."""
    found = {}
    for name in REAL:
        said = [row.claim for part in ("train", "dev", "held") for row in CLAIMS[name](folder, part)]
        some = sorted({span.text for text in said for span in laid_out(text) if len(span.text.split()) >= LEAST})
        Random(0).shuffle(some)
        found[name] = [text for text in some if makes_claim_by_list(text)][:ANSWERS]
    return found


def fixed(text: str) -> bool:
    """Whether `makes_claim` says of a sentence that it claims nothing without asking a head."""
    return text.rstrip().endswith("?") or not claim(text).units


class Fitted:
    """A head, fitted on some sentences."""

    def __init__(self, said: Sequence[str], talks: Sequence[bool], weights: Array, vectors: dict[str, Array] | None):
        counted = Counter(word for text in said for word in {w for w, _ in small_talk.words(text)})
        frequent = {word for word, count in counted.items() if count >= FREQUENT}
        seen = Counter(name for text in said for name in small_talk.features(text, dict.fromkeys(frequent), False))
        self.names = sorted(name for name, count in seen.items() if count >= SEEN)
        self.frequent, self.vectors = dict.fromkeys(frequent), vectors
        found = LogisticRegression(C=1.0, max_iter=5000).fit(self.matrix(said, SHARE), np.array(talks), weights)
        self.weights, self.bias = found.coef_[0], float(found.intercept_[0])
        if vectors is not None:
            self.weights = self.weights * np.array([1.0] * len(self.names) + [SHARE] * self.dim)

    @property
    def dim(self) -> int:
        return len(next(iter(self.vectors.values()))) if self.vectors else 0

    def matrix(self, said: Sequence[str], share: float) -> Array:
        place = {name: i for i, name in enumerate(self.names)}
        found = np.zeros((len(said), len(self.names)))
        for row, text in zip(found, said, strict=True):
            for name, value in small_talk.features(text, self.frequent, listed(text)).items():
                if name in place:
                    row[place[name]] = value
        if self.vectors is None:
            return found
        return np.hstack([found, share * np.array([self.vectors[text] for text in said])])

    def probabilities(self, said: Sequence[str]) -> Array:
        z = self.matrix(said, 1.0) @ self.weights + self.bias
        return np.asarray(1 / (1 + np.exp(-z)))

    def json(self, name: str) -> dict[str, Any]:
        names = [*self.names, *(f"v{i}" for i in range(self.dim))]
        return {
            "name": name,
            "version": 1,
            "features": names,
            "weights": [round(float(w), 4) for w in self.weights],
            "bias": round(self.bias, 4),
            "thresholds": THRESHOLDS[name],
        }


def kept(is_talk: Callable[[str], bool], some: Sequence[Row]) -> tuple[float, float]:
    """The share of small talk that is called so, and of claims that are kept."""
    talk, claims = ([row.text for row in some if row.claims is claims] for claims in (False, True))
    return float(np.mean([is_talk(t) for t in talk])), float(np.mean([not is_talk(t) for t in claims]))


def called(text: str, probability: float, thresholds: dict[str, float]) -> bool:
    """What is made of a probability."""
    if "listed" not in thresholds:
        return probability >= thresholds["new"]
    return fixed(text) or surely_none(text) or probability >= thresholds["listed" if listed(text) else "new"]


def of_folds(name: str, fit: Sequence[Row], talks: Array, weights: Array, vectors: dict[str, Array] | None) -> None:
    """What each threshold gives where every fold is judged by a head that was fitted on the others."""
    said, folds = np.array([row.text for row in fit], dtype=object), np.arange(len(fit)) % FOLDS
    p = dict[str, float]()
    for fold in range(FOLDS):
        use = folds != fold
        head = Fitted(list(said[use]), talks[use], weights[use], vectors)
        p |= dict(zip(said[~use], head.probabilities(list(said[~use])), strict=True))
    print(f"{name}, five folds of what is fitted: threshold, small talk called so, look-alikes kept, others lost")
    for at in (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9):
        limits = {"new": at} if "report" in name else {"listed": min(at, 0.2), "new": at}
        yes = np.array([called(text, p[text], limits) for text in said])
        other = np.array([row.kind == "others" for row in fit])
        print(f"  {at:.1f} {yes[talks].mean():.3f} {1 - yes[~talks & ~other].mean():.3f} {yes[other].sum()}")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--out", type=Path, default=Path("intrinsics_core/data/heads"))
    parser.add_argument("--folds", action="store_true")
    parser.add_argument("--data", type=Path, required=True)
    args = parser.parse_args()

    # A report of something done is told from its calls, elsewhere: here it is a claim.
    mine = [row for kind in (*TALK, REPORTS) for row in rows(kind, held=False)]
    answered = real(args.data)
    more = [
        Row(text, "others", True) for text in (*others("fit", FITTED), *(s for some in answered.values() for s in some))
    ]
    fit, said = [*mine, *more], [row.text for row in (*mine, *more)]
    held = {kind: rows(kind, held=True) for kind in (*TALK, REPORTS)}
    far = [Row(text, "others", True) for text in others("held", HELD)]
    every = sorted({*said, *(row.text for some in held.values() for row in some), *(row.text for row in far)})
    encoder = BiEncoder()
    vectors = {text: each[0].astype(float) for text, each in zip(every, encoder.encode(every), strict=True)}

    methods: dict[str, Callable[[str], bool]] = {"phrases": lambda text: not makes_claim_by_list(text)}
    heads = {}
    for name, limits in THRESHOLDS.items():
        reports = "report" in name
        wanted = np.array([row.reports if reports else not (row.claims or row.kind == REPORTS) for row in fit])
        weights = np.where(wanted, WANTED, [OTHERS if row.kind == "others" else 1.0 for row in fit])
        seen = vectors if "vector" in name else None
        if args.folds:
            of_folds(name, fit, wanted, weights, seen)
        heads[name] = Fitted(said, wanted, weights, seen)
        p = dict(zip(every, heads[name].probabilities(every), strict=True))
        methods[name] = lambda text, p=p, limits=limits: called(text, p[text], limits)  # type: ignore[misc]

    tables: dict[str, dict[str, list[float]]] = {}
    talk = {kind: held[kind] for kind in TALK}
    report = [Row(row.text, row.kind, not row.reports) for some in held.values() for row in some]
    for name, is_found in methods.items():
        print(f"| {name}, held | called so | look-alikes kept |\n|---|---|---|")
        all_talk = [
            *(row for some in talk.values() for row in some),
            *(Row(r.text, r.kind, True) for r in held[REPORTS]),
        ]
        shown = {"reports": report} if "report" in name else {**talk, "all": all_talk}
        tables[name] = {}
        for kind, some in shown.items():
            tables[name][kind] = [round(x, 3) for x in kept(is_found, some)]
            print(f"| {kind} | {tables[name][kind][0]:.3f} | {tables[name][kind][1]:.3f} |")
        tables[name]["others"] = [round(float(1 - np.mean([is_found(row.text) for row in far])), 4)]
        print(f"| claims of {len(far)} other texts | | {tables[name]['others'][0]:.4f} |\n")
    for name, head in heads.items():
        about = head.json(name) | {
            "trained_on": [
                {"set": "small_talk", "licence": "Apache-2.0 (written for this project: training/small_talk)",
                 "rows": len(mine)},
                {"set": "written", "licence": "Apache-2.0 (written for this project: training/reader/written)",
                 "rows": FITTED},
                *({"set": key, "licence": LICENCES[key], "rows": len(some)} for key, some in answered.items()),
            ],
            "validation": {key: tables[key] for key in ("phrases", name) if "report" not in name or key == name},
            "method": "logistic regression; shares of the held half called so and of look-alikes kept "
                      "(training/small_talk)",
        }  # fmt: skip
        if head.dim:
            about["encoder"] = encoder.name
        (args.out / f"{name}.json").write_text(json.dumps(about, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    main()
