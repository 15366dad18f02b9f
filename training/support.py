"""Fit the numbers behind `intrinsics_core.embedded.support` and write them as JSON, with a reader and without.

    python -m training.support --data "$RAG_INTRINSICS_DATA" --reader intrinsics_core/data/reader

writes `support.json` (without) and, where there is a reader, `support_read.json` beside it. Both are fitted on the
rows of the sets that no reader was trained on (`training.reader.splits`: what is kept for choosing and what is
held), so that the reader is as right here as on text it never saw.

Weights: logistic regression that predicts *not supported* from `evidence.FEATURES` (or `support.READ`), every
weight at least zero (more evidence against a sentence never makes it more supported), each set weighed alike whatever
its size, an intercept per set, because how much unsupported text there is differs from set to set and must not be
learned as a property of the words. Strong ridge on standardised features: sets disagree on the fine shape, and equal
shares transfer best.

Validated leaving one set out: every score in ``validation`` is of a head that never saw that set, and thresholds are
set on those scores.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import groupby, product
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from sklearn.metrics import roc_auc_score

from intrinsics_core.embedded.claims import makes_claim
from intrinsics_core.embedded.evidence import FEATURES, CitationRule, cite
from intrinsics_core.embedded.models.cross_encoder import CrossEncoder
from intrinsics_core.embedded.support import READ, SupportHead, load_head, uncovered
from training.reader.data import (
    CLAIMS,
    LICENCES,
    Claim,
    hard_claims,
    long_claims,
    rules_claims,
    summedits_whole,
    written_claims,
)
from training.support_data import Example, Measured, Vectors, load, measured, split

Array = NDArray[np.float64]

# How much each set counts; less for what is further from the answers of a RAG chain.
SUPPORT_SETS: dict[str, float] = {
    "begin": 1.0, "expertqa_claims": 1.0, "wice": 1.0, "summedits": 0.5, "halueval": 0.25, "fm2": 0.5,
    "fever_dev_nli": 0.5, "cad_nli": 0.25, "mnli_dev": 0.5, "written": 0.5,
    "written_rules": 1.0, "written_hard": 1.0, "written_long": 1.0,
}  # fmt: skip
WRITTEN = {
    "written": written_claims,
    "written_rules": rules_claims,
    "written_hard": hard_claims,
    "written_long": long_claims,
}
AGAINST_WORDS = ("written_rules", "written_hard", "written_long")
"""What only a reader tells: the head without one is not fitted on them."""
CITATION_SETS = ("wice", "clapnq")
RIDGE = 0.5
LIMIT = 1000
WEAKEST = 2
# What is found nowhere beside the weakest claims; by hand, as answers drawn from claims are not like real ones.
WHOLE = 1.0
DRAWN = 1000  # answers put together from the claims of one set
RESPONSE_SETS = ("expertqa_claims", "wice", "begin", "halueval")
UNCITED = 0.25  # share of claims that should get no citation, in tuning citations
FALSE_ACCEPTANCE = 0.3  # share of unsupported sentences that may be called faithful, over the sets left out in turn
FALSE_REJECTION = 0.15  # share of supported sentences that may be called unfaithful


def examples(folder: Path, name: str, limit: int = LIMIT) -> list[Example]:
    """Claims of the parts that no reader was trained on, evenly spaced over the set."""
    read = (WRITTEN | {"summedits": summedits_whole}).get(name) or CLAIMS[name]
    rows = [row for part in ("dev", "held") for row in read(folder, part) if row.sources and row.claim.strip()]
    step = max(1.0, len(rows) / limit)
    return [_example(rows[int(i * step)]) for i in range(int(len(rows) / step))]


def _example(row: Claim) -> Example:
    sentences = split(row.claim)
    # Of an answer that is not supported as a whole, nobody says which sentence is to blame.
    labels = [row.label if row.label or len(sentences) == 1 else None] * len(sentences)
    titled = zip(row.titles or [""] * len(row.sources), row.sources, strict=True)
    passages = [(title, [text for _, text in some]) for title, some in groupby(titled, itemgetter(0))]
    titles, documents = [title for title, _ in passages], [texts for _, texts in passages]
    return Example(row.set, sentences, documents, labels, row.label, row.question, group=row.question, titles=titles)


def data(measures: Sequence[Measured]) -> tuple[Array, Array]:
    """Features and unsupported flags, one row a labelled sentence that claims something."""
    pairs = [
        (row, 1.0 - label)
        for m in measures
        for row, sentence, label in zip(m.features, m.example.sentences, m.example.labels, strict=True)
        if label is not None and makes_claim(sentence)
    ]
    return np.array([row for row, _ in pairs], dtype=float), np.array([y for _, y in pairs])


def fit(
    sets: Mapping[str, tuple[Array, Array]], share: Mapping[str, float], ridge: float = RIDGE
) -> tuple[Array, float]:
    """Weights (features,), none negative, and the mean intercept over sets, classes balanced within each set."""
    names = list(sets)
    scale = np.sqrt(np.mean([sets[n][0].var(axis=0) for n in names], axis=0)) + 1e-6
    width = len(scale)

    def loss(p: Array) -> tuple[float, Array]:
        w, value, slope = p[:width], 0.5 * ridge * float(p[:width] @ p[:width]), np.zeros_like(p)
        slope[:width] = ridge * w
        for i, name in enumerate(names):
            x, y = sets[name]
            z = (x / scale) @ w + p[width + i]
            c = share[name] * np.where(y == 1, 0.5 / y.sum(), 0.5 / (1 - y).sum())
            value += float((c * (np.logaddexp(0, z) - y * z)).sum())
            residual = c * (1 / (1 + np.exp(-z)) - y)
            slope[:width] += (x / scale).T @ residual
            slope[width + i] += residual.sum()
        return value, slope

    bounds = [(0.0, None)] * width + [(None, None)] * len(names)
    found = minimize(loss, np.zeros(width + len(names)), jac=True, method="L-BFGS-B", bounds=bounds)
    weights = found.x[:width] / scale
    shares = np.array([share[n] for n in names])
    return weights, float((found.x[width:] * shares).sum() / shares.sum())


def steepness(scores: Mapping[str, tuple[Array, Array]], share: Mapping[str, float]) -> float:
    """What the log-odds of sets left out are to be multiplied by: the ridge makes all weights smaller than they call
    for."""
    weights, _ = fit({n: (z[:, None], y) for n, (z, y) in scores.items()}, share, ridge=0.0)
    return float(weights[0])


def rescale(drawn: Mapping[str, tuple[Array, Array]]) -> tuple[float, float, float]:
    """Weights of the weakest claims' log-odds and of what is found nowhere, and bias.

    As many unfaithful responses as faithful ones, as in `fit`: claims and responses are on one scale, and the
    thresholds of the claims hold for both.
    """
    z = np.concatenate([x @ np.array([1.0, WHOLE]) for x, _ in drawn.values()])
    y = np.concatenate([y for _, y in drawn.values()])
    c = np.concatenate([SUPPORT_SETS[n] * _balance(y) for n, (_, y) in drawn.items()])

    def loss(p: Array) -> float:
        t = p[0] * z + p[1]
        return float((c * (np.logaddexp(0, t) - y * t)).sum())

    slope, bias = minimize(loss, np.array([1.0, 0.0]), method="L-BFGS-B", bounds=[(0.05, None), (None, None)]).x
    return float(slope), float(slope) * WHOLE, float(bias)


def _balance(y: Array) -> Array:
    return np.asarray(np.where(y == 1, 0.5 / y.sum(), 0.5 / (1 - y).sum()))


def responses(measures: Sequence[Measured], weights: Array, bias: float) -> tuple[Array, Array]:
    """Per response the log-odds of its weakest claims and the share of it found nowhere; and unfaithful flags.

    Claims stand alone in these sets, and a lone claim is no answer: its weakest sentence is its only one. So answers of
    two to six claims are drawn, faithful ones from supported claims, unfaithful ones with one or two unsupported among
    them.
    """
    single = [
        ((float((m.features @ weights).max()) + bias, uncovered(m.evidence, read=m.read)), m.example.label)
        for m in measures
    ]
    random = np.random.default_rng(0)
    good, bad = ([z for z, label in single if label == wanted] for wanted in (1.0, 0.0))
    truth = np.array([float(i % 2) for i in range(DRAWN)])

    def some(claims: list[tuple[float, float]], count: int) -> list[tuple[float, float]]:
        return [claims[i] for i in random.integers(0, len(claims), count)]

    found = [
        _response(
            [*some(good, int(random.integers(1, 6))), *some(bad if y else good, 1 + int(y * random.integers(0, 2)))]
        )
        for y in truth
    ]
    return np.array(found), truth


def _response(claims: Sequence[tuple[float, float]]) -> tuple[float, float]:
    odds, novel = zip(*claims, strict=True)
    return float(np.sort(odds)[::-1][:WEAKEST].mean()), float(np.mean(novel))


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


def fit_head(found: Mapping[str, Sequence[Measured]], rule: CitationRule) -> tuple[SupportHead, dict[str, float]]:
    """Weights from all the sets; everything else from scores of sets left out in turn. With the validation."""
    tables = {n: data(measures) for n, measures in found.items()}
    share = {n: SUPPORT_SETS[n] for n in found}
    others = {n: fit({m: t for m, t in tables.items() if m != n}, share) for n in tables}
    steep = steepness({n: (tables[n][0] @ w + bias, tables[n][1]) for n, (w, bias) in others.items()}, share)
    others = {n: (steep * w, steep * bias) for n, (w, bias) in others.items()}
    scores = {n: (tables[n][0] @ w + bias, tables[n][1]) for n, (w, bias) in others.items()}
    slope, novel, shift = rescale({n: responses(found[n], *others[n]) for n in RESPONSE_SETS if n in found})
    weights, bias = fit(tables, share)
    weights, bias = steep * weights, steep * bias
    validation = {f"{n} AUROC, set left out": round(float(roc_auc_score(y, z)), 3) for n, (z, y) in scores.items()}
    head = SupportHead(
        weights=tuple(round(float(v), 4) for v in weights),
        bias=round(bias, 4),
        response=(round(slope, 4), round(novel, 4), round(shift, 4)),
        thresholds={
            "faithful": round(_accepting(scores, share, 1.0, FALSE_ACCEPTANCE), 3),
            "unfaithful": round(_accepting(scores, share, 0.0, FALSE_REJECTION), 3),
        },
        citations=rule,
        weakest=WEAKEST,
    )
    return head, validation


def _accepting(
    scores: Mapping[str, tuple[Array, Array]], share: Mapping[str, float], wrong: float, rate: float
) -> float:
    """The probability of support that a share ``rate`` of the claims of one kind get wrong, each set weighed alike.

    Of unsupported claims (``wrong`` 1) that share has at least this probability, of supported ones (0) at most.
    """
    z = np.concatenate([1 / (1 + np.exp(odds[y == wrong])) for odds, y in scores.values()])
    c = np.concatenate(
        [np.full(int((y == wrong).sum()), share[n] / (y == wrong).sum()) for n, (_, y) in scores.items()]
    )
    order = np.argsort(-z if wrong else z)
    reached = np.cumsum(c[order]) / c.sum()
    return float(z[order][int(np.searchsorted(reached, rate))])


def as_json(head: SupportHead) -> dict[str, Any]:
    """The fitted part of a head's file, as `SupportHead.from_json` reads it."""
    slope, novel, bias = head.response
    return {
        "name": "support_read" if head.reads else "support",
        "version": 3,
        "features": list(READ if head.reads else FEATURES),
        "weights": list(head.weights),
        "bias": head.bias,
        "response": {"slope": slope, "novel": novel, "bias": bias, "weakest": head.weakest},
        "thresholds": dict(head.thresholds),
        "citations": asdict(head.citations),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=os.environ.get("RAG_INTRINSICS_DATA"), required=False)
    parser.add_argument("--out", type=Path, default=Path("intrinsics_core/data/heads"))
    parser.add_argument("--reader", type=Path, help="a reader folder; left out, only the head without one is fitted")
    parser.add_argument("--cache", type=Path, help="keep sentence vectors in this .npz file between runs")
    parser.add_argument("--citations", action="store_true", help="tune the citation rule anew")
    parser.add_argument("--limit", type=int, default=LIMIT, help="rows of a set")
    args = parser.parse_args()
    if args.data is None:
        parser.error("name the data folder with --data or RAG_INTRINSICS_DATA")
    folder, vectors = Path(args.data), Vectors(args.cache)
    reader = CrossEncoder(args.reader) if args.reader else None
    rule, cited = load_head().citations, dict[str, float]()
    if args.citations:
        rule, cited = tune_citations({n: measured(load(folder, n, args.limit), vectors, rule) for n in CITATION_SETS})
    found = {n: measured(examples(folder, n, args.limit), vectors, rule, reader) for n in SUPPORT_SETS}
    alone = {
        n: [Measured(m.example, m.evidence, [None] * len(m.evidence)) for m in some]
        for n, some in found.items()
        if n not in AGAINST_WORDS
    }
    for measures in (alone, found) if reader else (alone,):
        head, validation = fit_head(measures, rule)
        content: dict[str, Any] = as_json(head) | {
            "trained_on": [{"set": n, "licence": LICENCES[n], "rows": len(some)} for n, some in measures.items()],
            "validation": validation | {f"{n} citation score, fitted on": round(s, 3) for n, s in cited.items()},
            "rates": {"false acceptance": FALSE_ACCEPTANCE, "false rejection": FALSE_REJECTION},
            "method": "ridge logistic regression, signs kept, an intercept a set, sets balanced (training/support.py)",
        }
        if head.reads and reader:
            content["reader"] = reader.name
        args.out.mkdir(parents=True, exist_ok=True)
        (args.out / f"{content['name']}.json").write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
        print(json.dumps(content, indent=1))


if __name__ == "__main__":
    main()
