"""Every table of the embedded default, beside those of another commit.

    python -m benchmarks.floor [--against COMMIT] [--quick] [--tables NAME ...]

Both commits are asked the same calls by the same code, through public functions alone. A difference is paired: its 95%
interval and its standard error (SE) are of a bootstrap over texts, drawn alike for both. `below` marks what is worse by
more than the standard error of the other commit's own number, `(below)` by more than the paired one. `--quick`: the
everyday sets and the cases. Results of a commit are kept in `.floor/`, so the other commit is measured once.

`right kept` and `wrong passed` are shares labelled faithful. The public sets need `RAG_INTRINSICS_DATA`.
"""

from __future__ import annotations

import argparse
import os
import random
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from benchmarks import cases
from benchmarks.outcomes import Job, Outcome, job, milliseconds, outcomes

RESAMPLES = 1000
DRAWN = 100
"""Rows of a public set."""
HUT = {"text": "The hut is open from May to October. Nothing else is told of the village."}


@dataclass(frozen=True)
class Item:
    """One judged thing. group: what is drawn together. score: higher if more likely true. label: called true."""

    group: Hashable
    truth: bool
    score: float
    label: bool = False


Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Measure = Callable[[Floats, Bools, Bools], float]


@dataclass(frozen=True)
class Table:
    """Jobs, what their outcomes say of each item, and what is counted over the items."""

    name: str
    jobs: list[Job]
    items: Callable[[list[Outcome]], list[Item]]
    measures: dict[str, Measure]


def auroc(scores: Floats, truth: Bools, _: Bools) -> float:
    from intrinsics_core.calibration.fitting import auroc

    return auroc(scores, truth)


def ece(scores: Floats, truth: Bools, _: Bools) -> float:
    from intrinsics_core.calibration.fitting import quality

    return quality(scores, truth).ece or 0.0


def mean(scores: Floats, _: Bools, __: Bools) -> float:
    return float(scores.mean())


def called(of: bool, true: bool = True) -> Measure:
    """Of the items whose truth is this, the share that is called true, or is not."""
    return lambda _, truth, label: float((label[truth == of] == true).mean()) if (truth == of).any() else np.nan


SEEN = 0.0005  # of a difference, as it is printed
LESS_IS_BETTER = ("wrong passed", "ECE", "let through: not")
SUPPORT: dict[str, Measure] = {"AUROC": auroc, "right kept": called(True), "wrong passed": called(False)}
GATE: dict[str, Measure] = {"AUROC": auroc, "let through: answerable": called(True), "let through: not": called(False)}
MEAN: dict[str, Measure] = {"mean": mean}


def turns(question: str, answer: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": question}, {"role": "assistant", "content": answer}]


def number(value: float | None) -> float:
    return 0.0 if value is None else value


def everyday(name: str) -> list[Table]:
    from benchmarks.quality_everyday import read

    answers, asked = read(name, None)
    made = [job("hallucination-detection", turns(row.question, row.answer), row.documents) for row in answers]

    def of_answers(found: list[Outcome]) -> list[Item]:
        both = zip(answers, found, strict=True)
        return [Item(r.text, r.supported, number(f["score"]), f["label"] == "faithful") for r, f in both]

    def of_sentences(found: list[Outcome]) -> list[Item]:
        items = []
        for row, outcome in zip(answers, found, strict=True):
            at = 0
            for text, supported in row.sentences:
                begin = row.answer.index(text, at)
                at = begin + len(text)
                if supported is None:
                    continue
                judged = [s for s in outcome["sentences"] if s["begin"] < at and s["end"] > begin]
                score = min((number(s["score"]) for s in judged), default=0.0)
                label = bool(judged) and all(s["label"] in ("faithful", "NA") for s in judged)
                items.append(Item(row.text, supported, score, label))
        return items

    tables = []
    if any(row.supported for row in answers):
        tables.append(Table(f"{name}: answers", made, of_answers, SUPPORT | {"ECE": ece}))
    if answers[0].sentences:
        tables.append(Table(f"{name}: sentences", made, of_sentences, SUPPORT))
    if asked:
        gates = [job("answerability", turns(row.question, "")[:1], [row.document]) for row in asked]

        def of_gates(found: list[Outcome]) -> list[Item]:
            both = zip(asked, found, strict=True)
            return [Item(r.text, r.answerable, number(f["probability"]), f["label"] == "answerable") for r, f in both]

        tables.append(Table(f"{name}: gate", gates, of_gates, GATE))
    return tables


def of_claims(truth: Sequence[bool]) -> Callable[[list[Outcome]], list[Item]]:
    """Whether each whole answer is judged at all."""

    def items(found: list[Outcome]) -> list[Item]:
        judged = [outcome.get("label") != "NA" for outcome in found]
        return [Item(i, t, float(j), j) for i, (t, j) in enumerate(zip(truth, judged, strict=True))]

    return items


TOLD: dict[str, Measure] = {"claims judged": called(True), "others NA": called(False, False)}


def small_talk(_: Path | None) -> list[Table]:
    import json

    from benchmarks.quality_everyday import OWN
    from benchmarks.quality_small_talk import should_be
    from training.small_talk import sentences

    held = [row for row in sentences() if row.held and row.label != "self"]  # who answers is asked as cases are
    made = []
    for row in held:
        asked, said = turns("Please do.", row.text)
        made.append(
            job("hallucination-detection", [asked, said | ({"tool_calls": row.calls} if row.calls else {})], [HUT])
        )
    replies = [json.loads(line) for line in (OWN / "replies.jsonl").read_text("utf-8").splitlines()]
    whole = [job("hallucination-detection", turns(row["question"], row["answer"]), [HUT]) for row in replies]
    return [
        Table("small talk, held", made, of_claims([should_be(row) for row in held]), TOLD),
        Table("whole replies", whole, of_claims([row["claims"] for row in replies]), TOLD),
    ]


def lfqa(folder: Path | None) -> list[Table]:
    if folder is None:
        return []
    from intrinsics_core.bench.datasets import CLAIMS, whole
    from intrinsics_core.bench.folder import DataFolder

    claims = [c for c in CLAIMS["lfqa"].read(DataFolder(folder)) if c.system not in ("gpt3", "alpaca")]
    claims = [c for c in claims if c.supported is not None and c.documents]
    step = max(1, len(claims) // DRAWN)
    claims = claims[::step][:DRAWN]
    truth = [bool(claim.supported) for claim in claims]

    def items(found: list[Outcome]) -> list[Item]:
        both = zip(claims, truth, found, strict=True)
        return [Item(c.group or c.question, t, number(f["score"]), f["label"] == "faithful") for c, t, f in both]

    return [
        Table(
            f"LFQA, {'read' if reader else 'not read'}",
            [
                job(
                    "hallucination-detection",
                    turns(claim.question, claim.text),
                    [{"text": whole(document)} for document in claim.documents],
                    reader=reader,
                )
                for claim in claims
            ],
            items,
            SUPPORT | {"ECE": ece},
        )
        for reader in (False, True)
    ]


def scifact(folder: Path | None) -> list[Table]:
    if folder is None:
        return []
    from benchmarks.quality_ranking import SETS, ndcg

    found = list(islice(SETS["scifact"](folder), DRAWN // 5))
    mix, orders, made = random.Random(1), [], []
    for one in found:
        order = list(range(len(one.gains)))
        mix.shuffle(order)
        orders.append(order)
        documents = [{"title": one.passages[i][0], "text": one.passages[i][1]} for i in order]
        made.append(job("reranking", turns(one.query, "")[:1], documents))

    def items(told: list[Outcome]) -> list[Item]:
        return [
            Item(i, True, ndcg([one.gains[order[row["index"]]] for row in outcome["ranking"]], one.relevant))
            for i, (one, order, outcome) in enumerate(zip(found, orders, told, strict=True))
        ]

    return [Table("SciFact: nDCG@10", made, items, MEAN)]


def answering(folder: Path | None) -> list[Table]:
    if folder is None:
        return []
    from benchmarks.quality_answering import RELEVANCE, SETS

    def table(name: str) -> Table:
        rows = list(islice(SETS[name](folder), DRAWN))
        intrinsic = "context-relevance" if name in RELEVANCE else "answerability"
        made = [job(intrinsic, turns(row.question, "")[:1], row.passages) for row in rows]

        def items(found: list[Outcome]) -> list[Item]:
            told = [f if "probability" in f else f["judgements"][0] for f in found]
            scores = [number(t["probability"] if "probability" in t else t["score"]) for t in told]
            both = zip(rows, told, scores, strict=True)
            return [Item(r.question, r.label, s, t["label"] in ("answerable", "relevant")) for r, t, s in both]

        return Table(f"{name}: {intrinsic}", made, items, GATE)

    return [table(name) for name in ("squad", "clapnq", "cast", "mtrag-relevance")]


def readings(folder: Path | None) -> list[Table]:
    if folder is None:
        return []
    from benchmarks.quality_rewrite import token_f1
    from intrinsics_core.bench.datasets import REWRITES
    from intrinsics_core.bench.folder import DataFolder

    def table(name: str) -> Table:
        every = [row for row in REWRITES[name](DataFolder(folder)) if row.history]
        rows = random.Random(0).sample(every, 2 * DRAWN)
        made = [
            job("query-rewrite", [{"role": r, "content": c} for r, c in (*row.history, ("user", row.question))])
            for row in rows
        ]

        def items(found: list[Outcome]) -> list[Item]:
            both = zip(rows, found, strict=True)
            return [Item(i, True, token_f1(f["query"], r.rewrite)) for i, (r, f) in enumerate(both)]

        return Table(f"{name}: token F1 of the question", made, items, MEAN)

    return [table(name) for name in REWRITES]


def of_cases(_: Path | None, *, held: bool | None = None) -> list[Table]:
    def table(kind: str) -> Table:
        rows = cases.rows(kind, of_held=held)

        def items(found: list[Outcome]) -> list[Item]:
            both = zip(rows, cases.right(rows, found), strict=True)
            return [Item(row["template"], True, float(right), right) for row, right in both]

        return Table(f"cases: {kind}", [one for row in rows for one in cases.jobs(row)], items, {"rate": mean})

    return [made for kind in cases.kinds() if (made := table(kind)).jobs]


SETS: dict[str, Callable[[Path | None], list[Table]]] = {
    **{name: lambda _, name=name: everyday(name) for name in ("plain", "hard", "hard_dev", "long", "comparisons")},  # type: ignore[misc]
    "cases": of_cases,
    "small_talk": small_talk,
    "lfqa": lfqa,
    "scifact": scifact,
    "answering": answering,
    "readings": readings,
}
QUICK = ("plain", "hard", "hard_dev", "long", "comparisons", "cases")


class Drawn:
    """A measure of some items, and of as many that were drawn by their groups, with replacement."""

    def __init__(self, items: Sequence[Item], measure: Measure) -> None:
        self.scores = np.array([item.score for item in items], float)
        self.truth = np.array([item.truth for item in items], bool)
        self.label = np.array([item.label for item in items], bool)
        self.measure = measure
        self.value = self.of(np.arange(len(items)))

    def of(self, rows: NDArray[np.int64]) -> float:
        with np.errstate(invalid="ignore", divide="ignore"):
            return self.measure(self.scores[rows], self.truth[rows], self.label[rows])


@cache
def draws(groups: tuple[Hashable, ...]) -> list[NDArray[np.int64]]:
    places: dict[Hashable, list[int]] = {}
    for place, group in enumerate(groups):
        places.setdefault(group, []).append(place)
    each, rng = [np.array(some) for some in places.values()], np.random.default_rng(0)
    return [np.concatenate([each[g] for g in rng.integers(0, len(each), len(each))]) for _ in range(RESAMPLES)]


def line(name: str, measure: str, now: Drawn, base: Drawn | None, groups: tuple[Hashable, ...]) -> str:
    """A row of the printed table: a value with its interval, or two with that of their difference."""
    drawn = [rows for rows in draws(groups) if len(rows)]
    head = f"| {name} | {len(groups)} | {measure} | "
    here = np.array([now.of(rows) for rows in drawn])
    if base is None:
        low, high = np.nanquantile(here, (0.025, 0.975))
        return f"{head}{now.value:.3f} [{low:.3f}, {high:.3f}] | {np.nanstd(here):.3f} |"
    there = np.array([base.of(rows) for rows in drawn])
    low, high = np.nanquantile(here - there, (0.025, 0.975))
    gap, paired, own = now.value - base.value, float(np.nanstd(here - there)), float(np.nanstd(there))
    worse = gap if measure in LESS_IS_BETTER else -gap
    mark = "" if worse < SEEN else "below" if worse > own else "(below)" if worse > paired else ""
    return (
        f"{head}{base.value:.3f} | {now.value:.3f} | {gap:+.3f} [{low:+.3f}, {high:+.3f}] "
        f"| {paired:.3f} | {own:.3f} | {mark} |"
    )


def show(tables: Sequence[Table], against: str | None) -> None:
    """Print every measure of every table, and the means of the first ones."""
    jobs = [one for table in tables for one in table.jobs]
    now, then = outcomes(jobs), outcomes(jobs, against) if against else None
    head = f"{against[:8]} | now | difference [95%] | SE of it | SE there | " if against else "value [95%] | SE "
    columns = 8 if against else 5
    print(f"| table | n | measure | {head}|\n" + "|---" * columns + "|")
    firsts: dict[str, list[tuple[float, float]]] = {}
    at = 0
    for table in tables:
        part = slice(at, at := at + len(table.jobs))
        items, old = table.items(now[part]), table.items(then[part]) if then else None
        groups = tuple(item.group for item in items)
        for measure, of in table.measures.items():
            here, there = Drawn(items, of), Drawn(old, of) if old else None
            print(line(table.name, measure, here, there, groups), flush=True)
            kind = "cases: rate" if table.name.startswith("cases") else measure
            firsts.setdefault(kind, []).append((there.value if there else float("nan"), here.value))
    print()
    for measure, values in firsts.items():
        if len(values) > 1:
            there, here = (fmean(pair[i] for pair in values) for i in (0, 1))
            print(
                f"mean of {len(values)} tables, {measure}: " + (f"{there:.4f} -> {here:.4f}" if then else f"{here:.4f}")
            )


def show_time(against: str | None) -> None:
    jobs = [one for table in everyday("plain")[:1] for one in table.jobs[::5]]
    commits = [against, None] if against else [None]
    told = dict(zip(commits, milliseconds(jobs, commits), strict=True))
    print("\nCPU time of a detection with reading: " + ", ".join(
        f"{'now' if commit is None else commit[:8]} {value:.1f} ms" for commit, value in told.items()
    ))  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--against", metavar="COMMIT", help="a commit to compare with")
    parser.add_argument("--quick", action="store_true", help="the everyday sets and the cases alone")
    parser.add_argument("--tables", nargs="+", choices=list(SETS), help="these alone")
    parser.add_argument("--data", type=Path, default=os.environ.get("RAG_INTRINSICS_DATA"))
    args = parser.parse_args()
    names = args.tables or (QUICK if args.quick else list(SETS))
    show([table for name in names for table in SETS[name](args.data and Path(args.data))], args.against)
    if not args.tables and not args.quick:
        show_time(args.against)


if __name__ == "__main__":
    main()
