"""Fit the numbers behind `intrinsics_core.embedded.support` and write them as JSON.

    python -m training.support --data "$RAG_INTRINSICS_DATA" --out intrinsics_core/data/heads/support.json

Weights: logistic regression that predicts *not supported* from `evidence.FEATURES`, every weight at least zero (more
evidence against a sentence never makes it more supported), each set weighed alike whatever its size, an intercept
per set, because how much unsupported text there is differs from set to set and must not be learned as a property of
the words. Strong ridge on standardised features: sets disagree on the fine shape, and equal shares transfer best.

Validated leaving one set out: every score in ``validation`` is of a head that never saw that set.
"""

from __future__ import annotations

import argparse
import json
import os
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from sklearn.metrics import roc_auc_score

from intrinsics_core.embedded.evidence import FEATURES
from intrinsics_core.embedded.support import CitationRule, SupportHead, cite
from training.support_data import SETS, Measured, Vectors, load, measured

Array = NDArray[np.float64]

# How much each set counts; less for what is further from the answers of a RAG chain.
SUPPORT_SETS: dict[str, float] = {
    "expertqa": 1.0, "begin": 1.0, "wice": 1.0, "summedits": 0.5, "halueval": 0.25, "fm2": 0.5, "fever": 0.5,
}  # fmt: skip
ENTAILMENT_SETS: dict[str, float] = {
    "fever": 1.0, "fm2": 1.0, "wice": 1.0, "snli": 0.5, "cad": 0.5, "halueval_claim": 0.5,
}  # fmt: skip
CITATION_SETS = ("wice", "clapnq")
BY_HAND = {"denied": 1.5}  # no open set here has records as sources; a denied field outweighs any one other sign
RIDGE = 0.5
LIMIT = 1500
WEAKEST = 2
DRAWN = 1000  # answers put together from the claims of one set
RESPONSE_SETS = ("expertqa", "wice", "begin", "halueval")
UNCITED = 0.25  # share of claims that should get no citation, in tuning citations
PREVALENCE = 0.3  # share of unfaithful responses that threshold and probabilities are meant for


def data(measures: Sequence[Measured], level: str) -> tuple[Array, Array]:
    """Features and unsupported flags: one row a labelled sentence, or the two weakest's mean a response."""
    if level == "response":
        x = np.array([np.sort(m.features, axis=0)[::-1][:WEAKEST].mean(axis=0) for m in measures])
        return x, np.array([1.0 - float(m.example.label or 0) for m in measures])
    pairs = [
        (row, 1.0 - label)
        for m in measures
        for row, label in zip(m.features, m.example.labels, strict=True)
        if label is not None
    ]
    return np.array([row for row, _ in pairs]), np.array([y for _, y in pairs])


def fit(sets: Mapping[str, tuple[Array, Array]], share: Mapping[str, float]) -> tuple[Array, float]:
    """Weights (features,), none negative, and the mean intercept over sets, classes balanced within each set."""
    names = list(sets)
    scale = np.sqrt(np.mean([sets[n][0].var(axis=0) for n in names], axis=0)) + 1e-6
    width = len(scale)
    used = np.array([f not in BY_HAND for f in FEATURES])

    def loss(p: Array) -> tuple[float, Array]:
        w, value, slope = p[:width], 0.5 * RIDGE * float(p[:width] @ p[:width]), np.zeros_like(p)
        slope[:width] = RIDGE * w
        for i, name in enumerate(names):
            x, y = sets[name]
            z = (x / scale) @ w + p[width + i]
            c = share[name] * np.where(y == 1, 0.5 / y.sum(), 0.5 / (1 - y).sum())
            value += float((c * (np.logaddexp(0, z) - y * z)).sum())
            residual = c * (1 / (1 + np.exp(-z)) - y)
            slope[:width] += (x / scale).T @ residual
            slope[width + i] += residual.sum()
        return value, slope

    bounds = [(0.0, None if u else 0.0) for u in used] + [(None, None)] * len(names)
    found = minimize(loss, np.zeros(width + len(names)), jac=True, method="L-BFGS-B", bounds=bounds)
    weights = np.array([BY_HAND.get(f, w) for f, w in zip(FEATURES, found.x[:width] / scale, strict=True)])
    shares = np.array([share[n] for n in names])
    return weights, float((found.x[width:] * shares).sum() / shares.sum())


def rescale(odds: Mapping[str, tuple[Array, Array]]) -> tuple[float, float]:
    """Slope (positive) and bias from a response's log-odds to its chance of being unfaithful, at `PREVALENCE`."""
    z = np.concatenate([z for z, _ in odds.values()])
    y = np.concatenate([y for _, y in odds.values()])
    c = np.concatenate([SUPPORT_SETS[n] * _balance(y) for n, (_, y) in odds.items()])

    def loss(p: Array) -> float:
        t = p[0] * z + p[1]
        return float((c * (np.logaddexp(0, t) - y * t)).sum())

    slope, bias = minimize(loss, np.array([1.0, 0.0]), method="L-BFGS-B", bounds=[(0.05, None), (None, None)]).x
    return float(slope), float(bias)


def _balance(y: Array) -> Array:
    return np.asarray(np.where(y == 1, PREVALENCE / y.sum(), (1 - PREVALENCE) / (1 - y).sum()))


def f1_at(scores: Array, y: Array, threshold: float) -> float:
    """F1 of the unfaithful class where it makes up `PREVALENCE` of the responses."""
    hit, false = (scores[y == 1] >= threshold).mean(), (scores[y == 0] >= threshold).mean()
    return float(2 * PREVALENCE * hit / (PREVALENCE * hit + (1 - PREVALENCE) * false + PREVALENCE))


def best_threshold(scores: Mapping[str, tuple[Array, Array]]) -> float:
    """The mean, in log-odds and weighed as in `SUPPORT_SETS`, of the sets' own best thresholds.

    A set's own is the middle of those within one per cent of its best F1. The threshold with the best mean F1 instead
    would be that of the set with the sharpest peak.
    """
    grid = np.linspace(0.02, 0.98, 97)
    total = share = 0.0
    for name, (p, y) in scores.items():
        f1 = np.array([f1_at(p, y, t) for t in grid])
        own = grid[f1 >= 0.99 * f1.max()]
        total += SUPPORT_SETS[name] * float(np.log(own / (1 - own)).mean())
        share += SUPPORT_SETS[name]
    return float(1 / (1 + np.exp(-total / share)))


def responses(name: str, measures: Sequence[Measured], weights: Array, bias: float) -> tuple[Array, Array]:
    """Log-odds and unfaithful flag per response.

    ExpertQA's claims are put back into the answers they were taken from. Elsewhere claims stand alone, and a lone claim
    is no answer: its weakest sentence is its only one. So answers of two to six claims are drawn, faithful ones from
    supported claims, unfaithful ones with one or two unsupported among them.
    """
    single = [(float((m.features @ weights).max()) + bias, m.example.label, m.example.group) for m in measures]
    if name == "expertqa":
        groups: dict[str, list[tuple[float, float]]] = defaultdict(list)
        for odds, label, group in single:
            groups[group].append((odds, 1.0 - float(label or 0)))
        drawn = [(_weakest([z for z, _ in g]), max(y for _, y in g)) for g in groups.values()]
        return np.array([z for z, _ in drawn]), np.array([y for _, y in drawn])
    random = np.random.default_rng(0)
    good, bad = ([z for z, label, _ in single if label == wanted] for wanted in (1.0, 0.0))
    truth = np.array([float(i % 2) for i in range(DRAWN)])
    found = [
        _weakest(
            [
                *random.choice(good, random.integers(1, 6)),
                *random.choice(bad if y else good, 1 + int(y * random.integers(0, 2))),
            ]
        )
        for y in truth
    ]
    return np.array(found), truth


def _weakest(odds: Sequence[float]) -> float:
    return float(np.sort(odds)[::-1][:WEAKEST].mean())


def sentence_f1(chosen: Sequence[int], alternatives: Sequence[Sequence[int]]) -> float:
    """F1 of cited sentences against the best-matching gold alternative; citing nothing where there is none is 1."""
    if not any(alternatives):
        return float(not chosen)
    return max(2 * len(set(chosen) & set(gold)) / (len(chosen) + len(gold)) for gold in map(set, alternatives))


def citation_f1(m: Measured, rule: CitationRule) -> float:
    """Sentence F1 of the union of what the response's sentences cite."""
    return sentence_f1(sorted({i for e in m.evidence for i in cite(e, rule)}), m.example.gold)


def citation_score(measures: Sequence[Measured], rule: CitationRule) -> float:
    """Mean sentence F1, claims without any supporting sentence making up `UNCITED` of it where the set has such."""
    parts: dict[bool, list[float]] = {True: [], False: []}
    for m in measures:
        parts[any(m.example.gold)].append(citation_f1(m, rule))
    if not parts[False]:
        return float(np.mean(parts[True]))
    return float((1 - UNCITED) * np.mean(parts[True]) + UNCITED * np.mean(parts[False]))


def tune_citations(sets: Mapping[str, Sequence[Measured]]) -> tuple[CitationRule, dict[str, float]]:
    """The rule with the best mean `citation_score` over sets, and the scores."""
    grid = product((0.4, 0.5, 0.6, 0.7), (0.3, 0.35, 0.4, 0.45), (0.06, 0.08, 0.1, 0.14), (0.2, 0.3, 0.4), (3, 4))
    tried = [(rule := CitationRule(*v), {n: citation_score(m, rule) for n, m in sets.items()}) for v in grid]
    return max(tried, key=lambda pair: float(np.mean(list(pair[1].values()))))


def fit_head(found: Mapping[str, Sequence[Measured]], entail: Sequence[float], rule: CitationRule) -> SupportHead:
    """Weights from all the sets; the response's logistic and threshold from scores of sets left out in turn."""
    tables = {n: data(measures, SETS[n].level) for n, measures in found.items()}
    held_out = {
        n: responses(n, found[n], *fit({m: t for m, t in tables.items() if m != n}, SUPPORT_SETS))
        for n in RESPONSE_SETS
        if n in found
    }
    slope, shift = rescale(held_out)
    threshold = best_threshold({n: (1 / (1 + np.exp(-(slope * z + shift))), y) for n, (z, y) in held_out.items()})
    weights, bias = fit(tables, SUPPORT_SETS)
    return SupportHead(
        weights=tuple(round(float(v), 4) for v in weights),
        bias=round(bias, 4),
        response=(round(slope, 4), round(shift, 4)),
        entailment=tuple(entail),
        thresholds={"faithful": 0.5, "unfaithful": 0.25, "response": round(1 - threshold, 3)},
        citations=rule,
        weakest=WEAKEST,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=os.environ.get("RAG_INTRINSICS_DATA"), required=False)
    parser.add_argument("--out", type=Path, default=Path("intrinsics_core/data/heads/support.json"))
    parser.add_argument("--cache", type=Path, help="keep sentence vectors in this .npz file between runs")
    args = parser.parse_args()
    if args.data is None:
        parser.error("name the data folder with --data or RAG_INTRINSICS_DATA")
    folder = Path(args.data)
    names = sorted({*SUPPORT_SETS, *ENTAILMENT_SETS, *CITATION_SETS})
    if barred := [name for name in names if not SETS[name].fit]:
        raise SystemExit(f"not licensed for fitting: {barred}")
    vectors = Vectors(args.cache)
    found: dict[str, list[Measured]] = {name: measured(load(folder, name, LIMIT), vectors) for name in names}
    tables = {n: data(found[n], SETS[n].level) for n in {*SUPPORT_SETS, *ENTAILMENT_SETS}}

    validation: dict[str, float] = {}
    for name in SUPPORT_SETS:
        rest_weights, _ = fit({n: tables[n] for n in SUPPORT_SETS if n != name}, SUPPORT_SETS)
        x, y = tables[name]
        validation[f"{name} {SETS[name].level} AUROC, set left out"] = round(
            float(roc_auc_score(y, x @ rest_weights)), 3
        )
    entail, entail_bias = fit({n: tables[n] for n in ENTAILMENT_SETS}, ENTAILMENT_SETS)
    for name in ENTAILMENT_SETS:
        rest_weights, _ = fit({n: tables[n] for n in ENTAILMENT_SETS if n != name}, ENTAILMENT_SETS)
        x, y = tables[name]
        validation[f"{name} entailment AUROC, set left out"] = round(float(roc_auc_score(y, x @ rest_weights)), 3)

    rule, scores = tune_citations({n: found[n] for n in CITATION_SETS})
    validation |= {f"{n} citation score, fitted on": round(s, 3) for n, s in scores.items()}

    head = fit_head({n: found[n] for n in SUPPORT_SETS}, [round(float(v), 4) for v in (*entail, entail_bias)], rule)
    content: dict[str, Any] = head.to_json() | {
        "trained_on": [
            {"set": SETS[n].file, "licence": SETS[n].licence, "rows": len(found[n])}
            for n in names
            if n != "halueval_claim"
        ],
        "validation": validation,
        "by_hand": BY_HAND,
        "method": "sign-constrained ridge logistic regression, an intercept a set, sets balanced (training/support.py)",
    }
    args.out.parent.mkdir(parents=True, exist_ok=True)
    args.out.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(content, indent=1))


if __name__ == "__main__":
    main()
