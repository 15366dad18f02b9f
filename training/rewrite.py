"""Fit the three heads of query rewriting: ``rewrite``, ``rewrite_terms`` and ``rewrite_dependence``.

- ``rewrite``: is a term of the history in the reference rewrite of the question? (CANARD, CAsT, iKAT, Alexa
  CQR: by people; MT-RAG: recorded language-model rewrites.)
- ``rewrite_terms``: is it in the answer to the question? The answer stands in for the passage that holds it.
  (CANARD and iKAT: the next turn of the dialog; MT-RAG: the reference answer.)
- ``rewrite_dependence``: does the reference rewrite add any term of the history?

Conversations of every set weigh the same on average. Validation leaves one set out at a time (both MT-RAG
domains together). ``--out`` names the ``rewrite.json`` file; the other two are written beside it.

    python -m training.rewrite --data "$RAG_INTRINSICS_DATA" --out intrinsics_core/data/heads/rewrite.json
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, roc_auc_score

from intrinsics_core.bench.datasets import REWRITES, RewriteRow
from intrinsics_core.bench.folder import DataFolder
from intrinsics_core.embedded.rewrite.salience import (
    QUESTION_FEATURES,
    TERM_FEATURES,
    question_features,
    term_features,
)
from intrinsics_core.embedded.turns import Turn
from intrinsics_core.embedded.words import terms

LICENCES = {
    "canard": "CC BY-SA 4.0",
    "cast": "MIT",
    "ikat": "MIT",
    "alexa": "MIT-0",
    "mtrag": "Apache-2.0",
}


@dataclass
class Example:
    """A conversation with its reference rewrites and, where the set has it, the answer that followed."""

    conversation: list[Turn]
    rewrites: list[str] = field(default_factory=list)
    answer: str | None = None


def _example(row: RewriteRow, answer: str | None = None) -> Example:
    return Example([*row.history, ("user", row.question)], [row.rewrite], answer)


def canard(folder: Path) -> Iterator[Example]:
    table = {row.identity: row for row in REWRITES["canard"](DataFolder(folder))}
    for key, row in table.items():
        stem, turn = key.rsplit("_", 1)
        following = table.get(f"{stem}_{int(turn) + 1}")
        answer = following.history[-1][1] if following and following.history[-2][1] == row.question else None
        yield _example(row, None if answer and "don't know" in answer else answer)


def cast_or_ikat(folder: Path, source: str) -> Iterator[Example]:
    table = [row for row in REWRITES["cast-ikat"](DataFolder(folder)) if row.source.startswith(source)]
    for row, following in zip(table, [*table[1:], None], strict=True):
        answer = None
        if following and len(following.history) > 1:
            (_, question), (role, text) = following.history[-2:]
            answer = text if question == row.question and role != "user" else None
        yield _example(row, answer)


def alexa(folder: Path) -> Iterator[Example]:
    return map(_example, REWRITES["alexa"](DataFolder(folder)))


def mtrag(folder: Path) -> Iterator[Example]:
    data = DataFolder(folder)
    recorded = {row["id"]: row for row in data.rows("mtrag_queries")}
    for task in data.rows("mtrag_tasks"):
        query = recorded.get(task["id"])
        rewrites = [query["rewrite_mixtral"], query["rewrite_sonnet"]] if query else []
        answer = task["answer"] if task["answerability"] != "UNANSWERABLE" else None
        history: list[Turn] = [(turn["role"], turn["content"]) for turn in task["history"]]
        yield Example([*history, ("user", task["question"])], rewrites, answer)


def load(folder: Path) -> dict[str, list[Example]]:
    sets = {
        "canard": list(canard(folder)),
        "cast": list(cast_or_ikat(folder, "cast")),
        "ikat": list(cast_or_ikat(folder, "ikat")),
        "alexa": list(alexa(folder)),
        "mtrag": list(mtrag(folder)),
    }
    return {name: [e for e in examples if len(e.conversation) > 1] for name, examples in sets.items()}


Labelled = tuple[NDArray[np.float64], NDArray[np.bool_], int]
"""Features, labels, and from how many conversations they come."""


def term_rows(examples: list[Example], target: Callable[[Example], list[str]]) -> Labelled:
    features: list[tuple[float, ...]] = []
    labels: list[bool] = []
    count = 0
    for example in examples:
        texts = target(example)
        if texts:
            count += 1
            wanted = set().union(*(terms(text) for text in texts))
            for term, row in term_features(tuple(example.conversation)).items():
                features.append(row)
                labels.append(term in wanted)
    return np.array(features), np.array(labels, dtype=bool), count


def question_rows(examples: list[Example]) -> Labelled:
    features: list[tuple[float, ...]] = []
    labels: list[bool] = []
    count = 0
    for example in examples:
        *history, (_, last) = example.conversation
        if example.rewrites:
            count += 1
            earlier = set().union(*(terms(text) for _, text in history)) - set(terms(last))
            features.append(question_features(example.conversation))
            labels.append(all(earlier & set(terms(text)) for text in example.rewrites))
    return np.array(features), np.array(labels, dtype=bool), count


def fit(sets: list[Labelled]) -> tuple[NDArray[np.float64], float]:
    """Weights and bias on the features' own scale; the average conversation of each set weighs the same."""
    x = np.concatenate([features for features, _, _ in sets])
    y = np.concatenate([labels for _, labels, _ in sets])
    weight = np.concatenate([np.full(len(labels), 1.0 / count) for _, labels, count in sets])
    mean, scale = x.mean(axis=0), x.std(axis=0) + 1e-9
    model = LogisticRegression(C=1.0, max_iter=1000)
    model.fit((x - mean) / scale, y, sample_weight=weight * len(weight) / weight.sum())
    weights = model.coef_[0] / scale
    return weights, float(model.intercept_[0] - (weights * mean).sum())


def validate(data: dict[str, Labelled]) -> dict[str, float]:
    scores: dict[str, float] = {}
    for held, (x, y, _) in data.items():
        weights, bias = fit([labelled for name, labelled in data.items() if name != held])
        logit = x @ weights + bias
        scores[f"{held}: AUROC left out"] = round(float(roc_auc_score(y, logit)), 3)
        scores[f"{held}: AP left out"] = round(float(average_precision_score(y, logit)), 3)
        scores[f"{held}: base rate"] = round(float(y.mean()), 3)
    return scores


def write(
    path: Path,
    features: tuple[str, ...],
    data: dict[str, Labelled],
    method: str,
    thresholds: dict[str, float],
) -> None:
    weights, bias = fit(list(data.values()))
    head = {
        "name": path.stem,
        "version": 1,
        "features": list(features),
        "weights": [round(float(w), 4) for w in weights],
        "bias": round(bias, 4),
        "thresholds": thresholds,
        "trained_on": [{"set": name, "licence": LICENCES[name], "rows": count} for name, (_, _, count) in data.items()],
        "validation": validate(data),
        "method": method,
    }
    path.write_text(json.dumps(head, indent=1) + "\n", encoding="utf-8")
    print(path.name, json.dumps(head["validation"], indent=1))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with the .jsonl.gz sets")
    parser.add_argument("--out", type=Path, required=True, help="where rewrite.json goes")
    arguments = parser.parse_args()
    sets = load(arguments.data)
    out: Path = arguments.out

    write(
        out,
        TERM_FEATURES,
        {name: term_rows(examples, lambda e: e.rewrites) for name, examples in sets.items()},
        "logistic regression, terms of the history that the reference rewrite has",
        {"substitute": 0.25},
    )
    write(
        out.with_name("rewrite_terms.json"),
        TERM_FEATURES,
        {name: term_rows(sets[name], lambda e: [e.answer] if e.answer else []) for name in ("canard", "ikat", "mtrag")},
        "logistic regression, terms of the history that the answer has",
        {},
    )
    # Alexa CQR is left out: nearly every row of it depends on its history.
    write(
        out.with_name("rewrite_dependence.json"),
        QUESTION_FEATURES,
        {name: question_rows(sets[name]) for name in ("canard", "cast", "ikat", "mtrag")},
        "logistic regression, whether every reference rewrite adds a term of the history",
        {"rewrite": 0.5},
    )


if __name__ == "__main__":
    main()
