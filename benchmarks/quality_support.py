"""How well the embedded support scores tell supported from unsupported text, and choose citations.

    python -m benchmarks.quality_support --data "$RAG_INTRINSICS_DATA" [--reader FOLDER] [--cache FILE.npz]

Positives are the *unsupported* claims or unfaithful responses. AUROC and AP need no threshold; F1 is of the label
(anything but ``faithful`` counts as flagged), beside the F1 of flagging everything and the best F1 any threshold
reaches on that set. ECE is over ten equal bins. Of the sets marked "fitted" some rows went into the shipped head; the
head file's own validation leaves each of them out in turn.
"""

from __future__ import annotations

import argparse
import os
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score, f1_score, roc_auc_score

from intrinsics_core.embedded.claims import makes_claim
from intrinsics_core.embedded.evidence import cite
from intrinsics_core.embedded.heads import just_below
from intrinsics_core.embedded.models.cross_encoder import CrossEncoder
from intrinsics_core.embedded.support import (
    SupportHead,
    label_of,
    load_head,
    response_probability,
    uncovered,
)
from training.support import LIMIT, SUPPORT_SETS, sentence_f1
from training.support_data import SETS, Measured, Vectors, load, measured

Array = NDArray[np.float64]
RESPONSES = ("lfqa_rag", "lfqa", "expertqa", "summedits", "begin")
CLAIMS = ("lfqa_rag", "expertqa", "wice", "halueval", "fm2", "fever", "scifact", "snli", "cad")
CITED = ("wice", "clapnq", "scifact", "fm2")


def sigmoid(z: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-z)))


def claim_scores(measures: list[Measured], head: SupportHead) -> tuple[Array, Array]:
    """Per labelled sentence: probability of being unsupported, and whether it is."""
    pairs = [
        (head.odds(e, z) if makes_claim(s) else -30.0, 1.0 - label)
        for m in measures
        for s, e, z, label in zip(m.example.sentences, m.evidence, m.logits, m.example.labels, strict=True)
        if label is not None
    ]
    return sigmoid(np.array([z for z, _ in pairs])), np.array([y for _, y in pairs])


def response_scores(name: str, measures: list[Measured], head: SupportHead) -> tuple[Array, Array, Array, Array]:
    """Per response: one minus its faithfulness, whether any part is unsupported, whether its label is not faithful, and
    the share of its words that no source holds.

    ExpertQA's claims are grouped.
    """
    groups: dict[str, list[Measured]] = defaultdict(list)
    for i, m in enumerate(measures):
        if m.example.label is not None:
            groups[m.example.group if name == "expertqa" else str(i)].append(m)
    scores, truth, flagged, words = [], [], [], []
    for group in groups.values():
        rows = [
            (head.odds(e, z), e, e.is_unproven(z is not None))
            for m in group
            for s, e, z in zip(m.example.sentences, m.evidence, m.logits, strict=True)
            if makes_claim(s)
        ]
        odds, claimed = [z for z, *_ in rows], [e for _, e, _ in rows]
        words.append(uncovered(claimed))
        limits = head.thresholds
        claims = [
            min(float(1 - sigmoid(np.array(z))), just_below(limits["faithful"]) if unproven else 1.0)
            for z, _, unproven in rows
        ]
        novel, foreign = uncovered(claimed, read=head.reads), any(e.foreign for e in claimed)
        faithful = response_probability(claims, odds, novel, head, foreign=foreign) if rows else 1.0
        scores.append(1.0 - faithful)
        flagged.append(bool(rows) and label_of(faithful, limits) != "faithful")
        truth.append(max(1.0 - float(m.example.label or 0) for m in group))
    return np.array(scores), np.array(truth), np.array(flagged), np.array(words)


def ece(p: Array, y: Array, bins: int = 10) -> float:
    """Expected calibration error over equal-width bins."""
    at = np.minimum((p * bins).astype(int), bins - 1)
    gaps = [abs(p[at == b].mean() - y[at == b].mean()) * (at == b).mean() for b in range(bins) if (at == b).any()]
    return float(sum(gaps))


def row(name: str, p: Array, y: Array, called: Array, words: Array) -> str:
    tops = [f1_score(y, p >= t) for t in np.unique(np.quantile(p, np.linspace(0, 1, 101)))]
    fitted = "fitted" if SETS[name].fit and any(n.startswith(name) for n in SUPPORT_SETS) else "unseen"
    share = y.mean()
    numbers = (
        roc_auc_score(y, p),
        roc_auc_score(y, words),
        average_precision_score(y, p),
        f1_score(y, called),
        2 * share / (1 + share),
        max(tops),
    )
    return (
        f"| {name} | {fitted} | {len(y)} | {share:.2f} | "
        + " | ".join(f"{v:.3f}" for v in (*numbers, ece(p, y)))
        + " |"
    )


HEADER = (
    "| set | | n | share unsupported | AUROC | word coverage | AP | F1 | F1 of flagging all | best F1 | ECE |\n"
    "|---|---|---|---|---|---|---|---|---|---|---|"
)


def reliability(p: Array, y: Array, bins: int = 5) -> str:
    edges = np.linspace(0, 1, bins + 1)
    at = np.minimum((p * bins).astype(int), bins - 1)
    lines = [
        f"| {edges[b]:.1f}-{edges[b + 1]:.1f} | {(at == b).sum()} | {p[at == b].mean():.2f} | {y[at == b].mean():.2f} |"
        for b in range(bins)
        if (at == b).any()
    ]
    return "\n".join(["| predicted | n | mean predicted | share unfaithful |", "|---|---|---|---|", *lines])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=os.environ.get("RAG_INTRINSICS_DATA"))
    parser.add_argument("--cache", type=Path, help="keep sentence vectors in this .npz file between runs")
    parser.add_argument("--reader", type=Path, help="a reader folder: measure the head that reads")
    parser.add_argument("--limit", type=int, default=LIMIT, help="rows of a set")
    args = parser.parse_args()
    if args.data is None:
        parser.error("name the data folder with --data or RAG_INTRINSICS_DATA")
    vectors = Vectors(args.cache)
    names = dict.fromkeys((*RESPONSES, *CLAIMS, *CITED))
    reader = CrossEncoder(args.reader) if args.reader else None
    shipped = load_head(reads=reader is not None)
    found = {n: measured(load(Path(args.data), n, args.limit), vectors, shipped.citations, reader) for n in names}

    print(f"## Responses: faithfulness and label\n\n{HEADER}")
    for name in RESPONSES:
        print(row(name, *response_scores(name, found[name], shipped)))
    print(f"\n## Claims: probability of a sentence at the 'faithful' threshold\n\n{HEADER}")
    for name in CLAIMS:
        p, y = claim_scores(found[name], shipped)
        words = [
            float(e.features[0])
            for m in found[name]
            for e, label in zip(m.evidence, m.example.labels, strict=True)
            if label is not None
        ]
        print(row(name, p, y, p > 1 - shipped.thresholds["faithful"], np.array(words)))
    print("\n## Reliability of response faithfulness (lfqa_rag, unseen)\n")
    p, y, called, _ = response_scores("lfqa_rag", found["lfqa_rag"], shipped)
    print(reliability(p, y))
    caught, false = (called[y == label].mean() for label in (1, 0))
    weighted = {share: 2 * share * caught / (share * caught + (1 - share) * false + share) for share in (0.1, 0.2, 0.4)}
    print(f"\nlfqa_rag by the shipped label: recall {caught:.2f}, false alarms {false:.2f} of faithful responses; F1")
    print("were the share of unfaithful responses " + ", ".join(f"{s:.1f}: {f1:.2f}" for s, f1 in weighted.items()))
    print("\n## Citations: sentence F1 against the best-matching gold set\n")
    print("| set | n | F1 | F1, cosine only, one citation | none cited where none is due |\n|---|---|---|---|---|")
    nearest = replace(shipped.citations, cosine=1.0, maximum=1, threshold=0.0)
    for name in CITED:
        rows = [(m, sorted({i for e in m.evidence for i in cite(e, shipped.citations)})) for m in found[name]]
        due = [(m, chosen) for m, chosen in rows if any(m.example.gold)]
        f1 = np.mean([sentence_f1(chosen, m.example.gold) for m, chosen in due])
        base = np.mean(
            [sentence_f1(sorted({i for e in m.evidence for i in cite(e, nearest)}), m.example.gold) for m, _ in due]
        )
        none = [not chosen for m, chosen in rows if not any(m.example.gold)]
        uncited = f"{np.mean(none):.2f} of {len(none)}" if none else "-"
        print(f"| {name} | {len(due)} | {f1:.3f} | {base:.3f} | {uncited} |")
    supported = [(e, y) for m in found["lfqa_rag"] for e, y in zip(m.evidence, m.example.labels, strict=True)]
    for label, text in ((1.0, "supported"), (0.0, "unsupported")):
        shares = [bool(cite(e, shipped.citations)) for e, y in supported if y == label]
        print(
            f"\nlfqa_rag sentences labelled {text} that get a citation: {np.mean(shares):.2f} of {len(shares)}", end=""
        )
    print()


if __name__ == "__main__":
    main()
