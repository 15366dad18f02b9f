"""What the default catches and misses on texts of the kind that people try first.

    python -m benchmarks.quality_everyday [--set SET ...] [--data FOLDER] [--reader FOLDER]

SET is dev, hard_dev, plain, hard, long, comparisons, customers or kinds.

`dev` is `everyday_dev.jsonl` of the data folder: eight texts, so an AUROC has a standard error of .08.
The others are this project's own and stand in `benchmarks/everyday/`, which says what each holds. Nothing was fitted on
any of them; methods are chosen on the two dev sets alone. All is asked through the public functions, with the
cross-encoder and without, beside plain word coverage. Intervals are 95%, of a bootstrap over texts.
"""

from __future__ import annotations

import argparse
import json
import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from intrinsics_core import answer_relevance, answerability, hallucination_detection, run_many
from intrinsics_core.calibration.fitting import auroc, f1, quality
from intrinsics_core.embedded.runtime import EmbeddedRuntime
from intrinsics_core.embedded.words import idf, terms
from intrinsics_core.protocol.results import HallucinationDetection

OWN = Path(__file__).with_name("everyday")
KEPT = {"dev": 0.85, "hard_dev": 0.85, "plain": 0.85, "hard": 0.85, "long": 0.9, "comparisons": 0.9, "customers": 0.9,
        "kinds": 0.9}  # fmt: skip
"""The share of right answers that a threshold is to keep."""


@dataclass(frozen=True)
class Answered:
    """An answer to judge. ``sentences``: of a long answer, each with whether it is supported (None: claims nothing)."""

    text: int
    documents: list[dict[str, str]]
    question: str
    answer: str
    supported: bool
    sentences: tuple[tuple[str, bool | None], ...] = ()


@dataclass(frozen=True)
class Asked:
    text: int
    document: str
    question: str
    answerable: bool


@dataclass(frozen=True)
class Told:
    """A question and an answer: whether the answer is one to it (true or not), or says something beside it."""

    text: int
    question: str
    answer: str
    direct: bool


def of_kinds(data: Path) -> dict[str, list[Answered]]:
    """The answers of `kinds.jsonl`, by kind."""
    found: dict[str, list[Answered]] = {}
    for i, line in enumerate(data.read_text("utf-8").splitlines()):
        row = json.loads(line)
        found.setdefault(row["kind"], []).extend(
            Answered(i, [{"text": row["doc"]}], a["q"], a["a"], a["supported"]) for a in row["answers"]
        )
    return found


def told(name: str) -> list[Told]:
    """The pairs of a set that answer relevance is measured on."""
    rows = [json.loads(line) for line in (OWN / f"{name}.jsonl").read_text("utf-8").splitlines()]
    return [Told(i, p["q"], p["a"], p["direct"]) for i, row in enumerate(rows) for p in row.get("relevance", ())]


def read(name: str, data: Path | None) -> tuple[list[Answered], list[Asked]]:
    """The answers and the questions of a set."""
    path = Path(data or "") / "everyday_dev.jsonl" if name == "dev" else OWN / f"{name}.jsonl"
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    answers, asked = [], []
    for i, row in enumerate(rows):
        if "documents" in row:
            sentences = tuple((s["text"], s["supported"]) for s in row["sentences"])
            documents = [{key: document[key] for key in ("title", "text")} for document in row["documents"]]
            right = all(supported is not False for _, supported in sentences)
            answers.append(Answered(i, documents, row["question"], row["answer"], right, sentences))
        elif name == "dev":
            judged = [*((row["q"], a, True) for a in row["true"]), *((row["q"], a, False) for a in row["false"])]
            answers += [Answered(i, [{"text": row["doc"]}], q, a, bool(t)) for q, a, t in (*judged, *row["other_a"])]
            asked += [Asked(i, row["doc"], q, bool(t)) for q, t in [(row["q"], True), *row["other_q"]]]
        else:
            answers += [Answered(i, [{"text": row["doc"]}], a["q"], a["a"], a["supported"]) for a in row["answers"]]
            asked += [Asked(i, row["doc"], q["q"], q["answerable"]) for q in row["questions"]]
    return answers, asked


def passed(scores: Sequence[float], truth: Sequence[bool], kept: float) -> float:
    """Share of the wrong that pass where a threshold keeps this share of the right ones."""
    right = sorted(s for s, t in zip(scores, truth, strict=True) if t)
    least = right[int((1 - kept) * len(right))]
    wrong = [s for s, t in zip(scores, truth, strict=True) if not t]
    return sum(s >= least for s in wrong) / len(wrong)


def flagged(scores: Sequence[float], faithful: Sequence[bool], truth: Sequence[bool]) -> str:
    """F1 of *anything but faithful* as it is labelled, and at the best threshold of the score."""
    wrong, points = ~np.array(truth), np.unique(scores)
    best = max(f1(wrong, np.array(scores) < point) for point in (*points, points[-1] + 1))
    return f"{f1(wrong, ~np.array(faithful)):.3f}; {best:.3f}"


def share(flags: Sequence[bool], truth: Sequence[bool], of: bool) -> float:
    chosen = [flag for flag, t in zip(flags, truth, strict=True) if t == of]
    return sum(chosen) / len(chosen)


def with_interval(
    measure: Callable[[Sequence[float], Sequence[bool]], float],
    scores: Sequence[float],
    truth: Sequence[bool],
    texts: Sequence[int],
) -> str:
    """A measure with its 95% interval, drawn over texts: answers about one text are no independent cases."""
    groups = [np.flatnonzero(np.array(texts) == text) for text in sorted(set(texts))]
    values, labels, rng = np.array(scores), np.array(truth), np.random.default_rng(0)
    drawn = []
    for _ in range(1000):
        rows = np.concatenate([groups[g] for g in rng.integers(0, len(groups), len(groups))])
        if len(set(labels[rows].tolist())) == 2:
            drawn.append(measure(values[rows].tolist(), labels[rows].tolist()))
    low, high = np.quantile(drawn, [0.025, 0.975])
    return f"{measure(scores, truth):.3f} [{low:.2f}, {high:.2f}]"


def detected(answers: Sequence[Answered], runtime: EmbeddedRuntime) -> list[HallucinationDetection]:
    calls = [
        hallucination_detection(
            [{"role": "user", "content": row.question}, {"role": "assistant", "content": row.answer}], row.documents
        )
        for row in answers
    ]
    return list(run_many(calls, runtime))


def coverage(text: str, source: str) -> float:
    """Share of the idf mass of a text's distinct terms that a source has: 0 to 1."""
    wanted, have = set(terms(text)), set(terms(source))
    total = math.fsum(map(idf, wanted))  # rounded alike in any order
    return math.fsum(map(idf, wanted & have)) / total if total else 1.0


def covered(claim: str, row: Answered) -> float:
    """Plain word coverage of a claim by its documents."""
    return coverage(claim, " ".join(document["text"] for document in row.documents))


def show_answers(
    name: str, answers: Sequence[Answered], kinds: Sequence[tuple[str, EmbeddedRuntime]], kept: float
) -> None:
    truth, texts = [row.supported for row in answers], [row.text for row in answers]
    found = {kind: detected(answers, runtime) for kind, runtime in kinds}
    if not any(truth):  # each has a wrong sentence
        show_sentences(name, answers, found, kept)
        return
    print(f"| {name}: {len(answers)} answers | AUROC | wrong passed at {kept:.0%} of the right kept "
          "| labelled faithful: right | wrong | unsure | ECE | F1: label; best threshold |\n"
          "|---|---|---|---|---|---|---|---|")  # fmt: skip
    words = [covered(row.answer, row) for row in answers]
    print(
        f"| word coverage | {with_interval(auroc, words, truth, texts)} | {passed(words, truth, kept):.2f} | | | | | |"
    )
    for kind, results in found.items():
        scores = [0.0 if result.score is None else result.score for result in results]
        faithful = [result.label == "faithful" for result in results]
        print(
            f"| {kind} | {with_interval(auroc, scores, truth, texts)} | {passed(scores, truth, kept):.2f} "
            f"| {share(faithful, truth, True):.2f} | {share(faithful, truth, False):.2f} "
            f"| {sum(result.unsure for result in results)} "
            f"| {quality(scores, truth).ece or 0.0:.3f} | {flagged(scores, faithful, truth)} |"
        )
    if answers[0].sentences:
        show_sentences(name, answers, found, kept)


def show_sentences(
    name: str, answers: Sequence[Answered], found: dict[str, list[HallucinationDetection]], kept: float
) -> None:
    claims = [(row, text, bool(t)) for row in answers for text, t in row.sentences if t is not None]
    truth, texts = [t for _, _, t in claims], [row.text for row, _, _ in claims]
    print(f"\n| {name}: {len(claims)} sentences | AUROC | wrong passed at {kept:.0%} of the right kept "
          "| labelled faithful: right | wrong |\n|---|---|---|---|---|")  # fmt: skip
    words = [covered(text, row) for row, text, _ in claims]
    print(f"| word coverage | {with_interval(auroc, words, truth, texts)} | {passed(words, truth, kept):.2f} | | |")
    for kind, results in found.items():
        scores, faithful = [], []
        for row, result in zip(answers, results, strict=True):
            at = 0
            for text, supported in row.sentences:
                begin = row.answer.index(text, at)
                at = begin + len(text)
                if supported is None:
                    continue
                judged = [s for s in result.sentences if s.begin < at and s.end > begin]
                scores.append(min((0.0 if s.score is None else s.score for s in judged), default=0.0))
                faithful.append(bool(judged) and all(s.label in ("faithful", "NA") for s in judged))
        print(f"| {kind} | {with_interval(auroc, scores, truth, texts)} | {passed(scores, truth, kept):.2f} "
              f"| {share(faithful, truth, True):.2f} | {share(faithful, truth, False):.2f} |")  # fmt: skip


def show_gate(name: str, asked: Sequence[Asked], kinds: Sequence[tuple[str, EmbeddedRuntime]]) -> None:
    truth, texts = [row.answerable for row in asked], [row.text for row in asked]
    print(
        f"\n| {name}: {len(asked)} questions | AUROC | let through: answerable | not | unsure |\n|---|---|---|---|---|"
    )
    held = [coverage(row.question, row.document) for row in asked]
    print(f"| word coverage | {with_interval(auroc, held, truth, texts)} | | | |")
    for kind, runtime in kinds:
        calls = [answerability([{"role": "user", "content": row.question}], [row.document]) for row in asked]
        gates = list(run_many(calls, runtime))
        through = [gate.answerable for gate in gates]
        print(
            f"| {kind} | {with_interval(auroc, [gate.probability or 0.0 for gate in gates], truth, texts)} "
            f"| {share(through, truth, True):.2f} | {share(through, truth, False):.2f} "
            f"| {sum(gate.unsure for gate in gates)} |"
        )


def show_relevance(name: str, pairs: Sequence[Told], kinds: Sequence[tuple[str, EmbeddedRuntime]]) -> None:
    truth, texts = [row.direct for row in pairs], [row.text for row in pairs]
    print(f"\n| {name}: {len(pairs)} questions with answers | AUROC | called relevant: direct | beside "
          "| no verdict: direct | beside |\n|---|---|---|---|---|---|")  # fmt: skip
    for kind, runtime in kinds:
        calls = [
            answer_relevance(
                [{"role": "user", "content": row.question}, {"role": "assistant", "content": row.answer}], rewrite=False
            )
            for row in pairs
        ]
        found = list(run_many(calls, runtime))
        scores = [0.5 if result.score is None else result.score for result in found]
        relevant = [result.label == "relevant" for result in found]
        none = [result.label is None for result in found]
        print(f"| {kind} | {with_interval(auroc, scores, truth, texts)} | {share(relevant, truth, True):.2f} "
              f"| {share(relevant, truth, False):.2f} | {share(none, truth, True):.2f} "
              f"| {share(none, truth, False):.2f} |")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--set", dest="sets", nargs="+", choices=list(KEPT), default=["dev"])
    parser.add_argument("--data", type=Path, default=os.environ.get("RAG_INTRINSICS_DATA"))
    parser.add_argument("--reader", type=Path, help="a reader folder; left out, the one that ships")
    args = parser.parse_args()
    if args.data is None and "dev" in args.sets:
        parser.error("the set dev needs the data folder: --data or RAG_INTRINSICS_DATA")
    kinds = [("without a reader", EmbeddedRuntime(reader=False))]
    if (reading := EmbeddedRuntime(reader=args.reader)).has_reader:
        kinds.append(("with the reader", reading))
    for name in args.sets:
        if name == "kinds":
            for kind, rows in of_kinds(OWN / "kinds.jsonl").items():
                show_answers(kind, rows, kinds, KEPT[name])
                print()
            continue
        answers, asked = read(name, args.data)
        show_answers(name, answers, kinds, KEPT[name])
        if asked:
            show_gate(name, asked, kinds)
        if pairs := told(name) if name != "dev" else []:
            show_relevance(name, pairs, kinds)
        print()


if __name__ == "__main__":
    main()
