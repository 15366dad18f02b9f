"""Fit the answering heads: does a passage answer a question?

    python -m training.answering --data $RAG_INTRINSICS_DATA --reader intrinsics_core/data/reader

writes `answering.json` (without a reader) and, where there is one, `relevance_read.json` and `answerability_read.json`
beside it. Logistic regression over `relevance.FEATURES` (and what the reader says) on SQuAD 2.0 (CC BY-SA 4.0) and
CLAPNQ (Apache-2.0; text Wikipedia, CC BY-SA) and, for the heads that read, on the texts written for this, each set with
the total weight of `SAY`, however many rows it has; CLAPNQ with and without the title in front of the passage, since
users pass both. Only the rows that no reader was trained on (`training.reader.splits`). Validated by five folds that
keep an article's questions together, and by leaving one set out.
"""

from __future__ import annotations

import argparse
import json
import os
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from intrinsics_core.calibration.fitting import quality, weighted_f1
from intrinsics_core.embedded.models.bi_encoder import BiEncoder
from intrinsics_core.embedded.models.cross_encoder import CrossEncoder
from intrinsics_core.embedded.relevance import FEATURES, READ, features, read_as, to_read, with_title
from training.reader.data import LICENCES, QUESTIONS, Question, hard_questions, written_questions

FOLDS = 5
LIMIT = 1000
RIDGE = {"answering": 2.0, "relevance_read": 20.0, "answerability_read": 20.0}
REFUSED = 0.12  # share of questions with an answer in the passage that the gate may refuse
FALSE_ACCEPTANCE = 0.2  # share of questions without an answer that may score above the band in which the head doubts
FALSE_REFUSAL = 0.1  # share of questions with one that may score below it
Array = NDArray[Any]


@dataclass(frozen=True)
class Pair:
    """A question, one passage and its title, whether the passage answers it, and the article it comes from."""

    question: str
    text: str
    title: str | None
    label: bool
    group: str

    @property
    def passage(self) -> str:
        return with_title(self.text, self.title)


def squad(folder: Path) -> list[Pair]:
    return [_pair(q, None) for part in ("dev", "held") for q in QUESTIONS["squad2_dev_b"](folder, part)]


def clapnq(folder: Path) -> list[Pair]:
    found = [q for part in ("dev", "held") for q in QUESTIONS["clapnq_dev"](folder, part)]
    return [_pair(q, title) for q in found for title in (None, q.title)]


def _pair(question: Question, title: str | None) -> Pair:
    text = " ".join(question.sentences)
    return Pair(question.question, text, title, question.answerable, question.title or question.sentences[0])


def written(folder: Path) -> list[Pair]:
    return [_pair(q, None) for part in ("dev", "held") for q in written_questions(folder, part)]


def hard(folder: Path) -> list[Pair]:
    return [_pair(q, None) for part in ("dev", "held") for q in hard_questions(folder, part)]


SETS = {"squad2_dev_b": squad, "clapnq_dev": clapnq, "written": written, "written_hard": hard}
SAY: dict[str, dict[str, float]] = {
    "answering": {"squad2_dev_b": 1.0, "clapnq_dev": 1.0},
    "relevance_read": {"squad2_dev_b": 1.0, "clapnq_dev": 1.0},
    "answerability_read": {"squad2_dev_b": 1.0, "clapnq_dev": 1.0, "written": 1.0, "written_hard": 1.0},
}
"""What each set counts in the fit of a head. Every open question of the written texts is about the very topic of its
text: only the reader tells it from one that is answered. A head that is fitted on them, too, trusts the reader most,
and orders lists worse, as a list has passages of other topics (SciFact: nDCG@10 .62 for .74)."""


def measured(pairs: list[Pair], encoder: BiEncoder, reader: CrossEncoder | None) -> tuple[Array, Array, Array]:
    """Features (the reader's last), labels, and the fold of each pair (by article)."""
    questions = encoder.encode([p.question for p in pairs], kind="query")
    passages = encoder.encode([p.passage for p in pairs], kind="passage")
    x = np.array([features(p.question, p.passage, q, v) for p, q, v in zip(pairs, questions, passages, strict=True)])
    if reader:
        logits = reader.logits("answers", [(p.question, to_read(p.question, p.text, p.title)) for p in pairs])
        x = np.column_stack([x, [read_as(logit) for logit in logits]])
    folds = np.array([zlib.crc32(p.group.encode()) % FOLDS for p in pairs])
    return x, np.array([p.label for p in pairs]), folds


def fit(parts: dict[str, tuple[Array, Array]], name: str) -> tuple[Array, float]:
    """Weights over raw features, and bias, of a head; a set counts by `SAY`, however many rows it has.

    The sets can hardly tell apart how much each feature is worth, so shares are drawn towards equal ones, which
    transfer best; slope and bias are then fitted along that direction.
    """
    from sklearn.linear_model import LogisticRegression

    x, y = np.concatenate([x for x, _ in parts.values()]), np.concatenate([y for _, y in parts.values()])
    say = np.concatenate([np.full(len(y), SAY[name][set_] / len(y)) for set_, (_, y) in parts.items()])
    say *= len(y) / say.sum()
    mean, spread = x.mean(0), x.std(0) + 1e-9
    model = LogisticRegression(C=RIDGE[name] / len(y), max_iter=2000).fit((x - mean) / spread, y, sample_weight=say)
    weights = model.coef_[0] / spread
    along = LogisticRegression(C=1e6, max_iter=2000).fit((x @ weights)[:, None], y, sample_weight=say)
    return weights * along.coef_[0, 0], float(along.intercept_[0])


def predict(x: Array, weights: Array, bias: float) -> Array:
    return np.asarray(1.0 / (1.0 + np.exp(-(x @ weights + bias))))


def scores(y: Array, p: Array, threshold: float = 0.5) -> dict[str, float]:
    found = quality(p, y)
    return {
        "weighted_f1": round(weighted_f1(y, p >= threshold), 3),
        "auroc": round(found.auroc, 3),
        "ece": round(found.ece or 0.0, 3),
    }


def head(name: str, data: dict[str, tuple[Array, Array, Array]]) -> dict[str, Any]:
    """The content of a head file."""
    validation: dict[str, Any] = {}
    held: dict[str, Array] = {set_: np.zeros(len(y)) for set_, (_, y, _) in data.items()}
    for fold in range(FOLDS):
        weights, bias = fit({set_: (x[f != fold], y[f != fold]) for set_, (x, y, f) in data.items()}, name)
        for set_, (x, _, f) in data.items():
            held[set_][f == fold] = predict(x[f == fold], weights, bias)
    for set_, (x, y, _) in data.items():
        others = {other: (a, b) for other, (a, b, _) in data.items() if other != set_}
        cosine = {other: (a[:, :1], b) for other, (a, b, _) in data.items()}
        validation[set_] = {
            "five folds": scores(y, held[set_]),
            "fitted on the other sets": scores(y, predict(x, *fit(others, name))),
            "cosine alone": scores(y, predict(x[:, :1], *fit(cosine, name))),
            "word coverage alone": round(quality(x[:, 1], y).auroc, 3),
        }
    weights, bias = fit({set_: (x, y) for set_, (x, y, _) in data.items()}, name)
    return {
        "name": name,
        "version": 2,
        "features": list((*FEATURES, READ)[: len(weights)]),
        "weights": [round(float(w), 4) for w in weights],
        "bias": round(bias, 4),
        # Probabilities are of "answers the question" where half of the passages do.
        "thresholds": thresholds(name, held, data),
        "rates": {"false acceptance": FALSE_ACCEPTANCE, "false refusal": FALSE_REFUSAL},
        "trained_on": [{"set": set_, "licence": LICENCES[set_], "rows": len(y)} for set_, (_, y, _) in data.items()],
        "validation": validation,
        "method": "logistic regression, a weight per set (training/answering.py)",
    }  # fmt: skip


def thresholds(name: str, held: dict[str, Array], data: dict[str, tuple[Array, Array, Array]]) -> dict[str, float]:
    """Those of relevance or of answerability, and both of the head that serves both.

    Between `refused` and `accepted` the head does not know: see `FALSE_ACCEPTANCE`.
    """
    relevance = {"relevant": 0.5, "partial": 0.3}
    if name == "relevance_read":
        return relevance
    answerability = {
        "answerable": round(min(_at(name, held, data, True, REFUSED), 0.5), 3),
        "accepted": round(max(_at(name, held, data, False, FALSE_ACCEPTANCE), 0.5), 3),
        "refused": round(min(_at(name, held, data, True, FALSE_REFUSAL), 0.5), 3),
    }
    return answerability if name == "answerability_read" else relevance | answerability


def _at(
    name: str, held: dict[str, Array], data: dict[str, tuple[Array, Array, Array]], label: bool, rate: float
) -> float:
    """The probability that a share ``rate`` of one kind of pair gets wrong, each set weighed by `SAY`."""
    side = {set_: held[set_][y == label] for set_, (_, y, _) in data.items()}
    found = [np.quantile(p, rate if label else 1 - rate) for p in side.values()]
    return float(np.average(found, weights=[SAY[name][set_] for set_ in side]))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("RAG_INTRINSICS_DATA"), required=False)
    parser.add_argument("--out", type=Path, default=Path("intrinsics_core/data/heads"))
    parser.add_argument("--reader", type=Path, help="a reader folder; left out, only the head without one is fitted")
    parser.add_argument("--limit", type=int, default=LIMIT, help="pairs of a set")
    args = parser.parse_args()
    if args.data is None:
        parser.error("name the data folder with --data or RAG_INTRINSICS_DATA")
    reader = CrossEncoder(args.reader) if args.reader else None
    with BiEncoder() as encoder:
        pairs = {name: read(args.data) for name, read in SETS.items()}
        some = {name: every[:: max(1, len(every) // args.limit)] for name, every in pairs.items()}
        data = {name: measured(few, encoder, reader) for name, few in some.items()}
    for name, say in SAY.items() if reader else [("answering", SAY["answering"])]:
        reads = name.endswith("_read")
        chosen = {set_: data[set_] for set_ in say}
        found = head(name, chosen if reads else {s: (x[:, : len(FEATURES)], y, f) for s, (x, y, f) in chosen.items()})
        if reader and reads:
            found["reader"] = reader.name
        args.out.mkdir(parents=True, exist_ok=True)
        (args.out / f"{name}.json").write_text(json.dumps(found, indent=2) + "\n", "utf-8")
        print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
