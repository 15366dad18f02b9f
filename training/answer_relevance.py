"""Fit the head ``answer_relevance``: whether an answer is one to its question.

    python -m training.answer_relevance [--out intrinsics_core/data/heads]

A *direct* answer, right or wrong, beside something else that the same text tells. Made by rule from the frames of
`training.reader.everyday_facts` (`Facts.told`), and taken from the texts written for the reader: a right and a wrong
answer to a question, and the answer to another question of the same text or, one in four, of another. Frames and texts
of the part *train* are fitted, those of *dev* and *held* are counted.

A logistic regression over pairs of what a question begins with and what an answer is made of (`places_of_answer`), the
cosine, the question's words that the answer holds and, in the part ``vector``, the reader's logit of *answers*. The
bias is moved so that `KEPT` of the direct answers that were not fitted are above .5.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import numpy as np

from intrinsics_core.calibration.fitting import auroc
from intrinsics_core.calibration.probabilities import logit
from intrinsics_core.embedded.heads import TextHead
from intrinsics_core.embedded.models.bi_encoder import BiEncoder
from intrinsics_core.embedded.models.cross_encoder import CrossEncoder
from intrinsics_core.embedded.relevance import features, places_of_answer, read_as
from training.reader.everyday_facts import Facts, frames
from training.reader.splits import Part
from training.reader.written import texts
from training.small_talk import Row
from training.small_talk.__main__ import Fitted

RIDGE = 0.3
KEPT = 0.9
THRESHOLDS = {"direct": 0.5, "partial": 0.35}
UNITS: dict[Part, tuple[int, int]] = {"train": (3000, 7000), "dev": (400, 700), "held": (400, 700)}
"""Pairs of pairs from frames and from texts."""


class Told(NamedTuple):
    question: str
    answer: str
    label: str
    set: str


def of_frames(part: Part, units: int) -> Iterator[Told]:
    rng, some = Random(part), frames(part)
    elsewhere = ""
    for _ in range(units):
        for pair in Facts().told(rng.choice(some), rng):
            far = not pair.label and elsewhere and rng.random() < 0.25
            said = elsewhere if far else pair.text
            yield Told(pair.query, said, "direct" if pair.label else "beside", "everyday_frames")
            elsewhere = pair.text if rng.random() < 0.3 else elsewhere


def of_texts(part: Part, units: int) -> Iterator[Told]:
    rng = Random(part)
    every = [text for text in texts(part) if len(text.asked) > 1]
    for _ in range(units):
        text, other = rng.sample(every, 2)
        (question, *direct), (_, *beside) = rng.sample(text.asked, 2)
        yield Told(question, rng.choice(direct), "direct", "written")
        yield Told(question, beside[0] if rng.random() < 0.75 else rng.choice(other.asked)[1], "beside", "written")


def measured(some: Sequence[Told], encoder: BiEncoder, reader: CrossEncoder) -> np.ndarray[Any, Any]:
    """Cosine, words of the question in the answer, the reader's logit of *answers*."""
    asked = sorted({row.question for row in some})
    said = sorted({row.answer for row in some})
    of_asked = dict(zip(asked, encoder.encode(asked, kind="query"), strict=True))
    of_said = dict(zip(said, encoder.encode(said), strict=True))
    logits = reader.logits("answers", [(row.question, row.answer) for row in some])
    return np.array(
        [
            (*features(row.question, row.answer, of_asked[row.question], of_said[row.answer]), read_as(logit))
            for row, logit in zip(some, logits, strict=True)
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--out", type=Path, default=Path("intrinsics_core/data/heads"))
    args = parser.parse_args()
    parts = {part: list(dict.fromkeys([*of_frames(part, a), *of_texts(part, b)])) for part, (a, b) in UNITS.items()}
    fit, held = parts["train"], [*parts["dev"], *parts["held"]]
    encoder, reader = BiEncoder(), CrossEncoder(args.out.parent / "reader")
    numbers = measured([*fit, *held], encoder, reader)
    about: dict[str, Any] = {"name": "answer_relevance", "version": 1, "kinds": ["beside", "direct"], "trained_on": [
        {"set": name, "licence": "Apache-2.0 (written for this project: training/reader)",
         "rows": sum(row.set == name for row in fit)} for name in ("everyday_frames", "written")
    ], "method": "logistic regression (training/answer_relevance.py); AUROC on frames and texts that were not fitted",
        "encoder": encoder.name, "validation": {}}  # fmt: skip
    for name, columns in (("words", 2), ("vector", 3)):
        rows = [Row(str(i), row.label, row.set) for i, row in enumerate([*fit, *held])]
        pairs = [places_of_answer(row.question, row.answer) for row in (*fit, *held)]
        vectors = {str(i): numbers[i, :columns] for i in range(len(rows))}
        fitted = Fitted(rows[: len(fit)], RIDGE, lambda row, pairs=pairs: pairs[int(row.text)], vectors)

        def scores(at: Sequence[int], fitted=fitted, pairs=pairs, vectors=vectors) -> list[float]:  # type: ignore[no-untyped-def]
            head = TextHead.from_json(fitted.kinds, fitted.json(THRESHOLDS))
            return [head.probabilities(pairs[i], vectors[str(i)].astype(np.float32))["direct"] for i in at]

        direct = [i for i in range(len(fit), len(rows)) if rows[i].label == "direct"]
        fitted.bias[1] -= logit(float(np.quantile(scores(direct), 1 - KEPT)))
        about[name] = fitted.json(THRESHOLDS)
        for which in ("everyday_frames", "written"):
            at = [i for i in range(len(fit), len(rows)) if rows[i].kind == which]
            p, is_direct = np.array(scores(at)), np.array([rows[i].label == "direct" for i in at])
            shown = {"AUROC": auroc(p.tolist(), is_direct.tolist()), "direct relevant": np.mean(p[is_direct] >= 0.5),
                     "beside relevant": np.mean(p[~is_direct] >= 0.5)}  # fmt: skip
            shown = {key: round(float(value), 3) for key, value in shown.items()} | {"rows": len(at)}
            about["validation"][f"{name}: {which}"] = shown
            print(name, which, shown)
    (args.out / "answer_relevance.json").write_text(json.dumps(about, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    main()
