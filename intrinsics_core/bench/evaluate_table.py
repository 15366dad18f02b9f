"""Evaluate (REC): does it agree with people and with a stronger judge, and does the order of two answers sway it?

ExpertQA's claims are rated by experts; Prometheus' answers from 1 to 5 by GPT-4, three times. Two answers to one
instruction that it rates a point or more apart are a pair: *prefers the better* is 1, .5 for a tie, 0; a choice counts
only where it is the same in both orders, so *ties* is how often the order, or nothing at all, decided.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from statistics import fmean

from intrinsics_core.bench.base import Case, Observed, Said, Table, by_half, judged_case
from intrinsics_core.bench.folder import DataFolder
from intrinsics_core.bench.measures import auroc, weighted_f1
from intrinsics_core.bench.plain import coverage
from intrinsics_core.bench.support_sets import Answered, each_answer
from intrinsics_core.intrinsics import compare, evaluate
from intrinsics_core.protocol.call import Call
from intrinsics_core.protocol.results import Evaluation, Preference

GOOD = 4.0  # of 5: from here on an answer counts as a good one


def claim(name: str, row: Answered) -> Case:
    def read(result: Evaluation) -> Said:
        (metric,) = result.metrics
        return metric.rating == "yes", metric.score

    def call() -> Call[Evaluation]:
        return evaluate(row.messages, row.sources, metrics=["faithfulness"])

    plain = {"word coverage": lambda: by_half(coverage(row.answer, row.sources))}
    return judged_case(f"{name}, faithfulness", call, ("answer", row.supported), read, plain)


def answers(folder: DataFolder) -> Iterator[tuple[str, str, float]]:
    """(instruction, answer, mean of GPT-4's ratings)."""
    parts = re.compile(
        r"###The instruction to evaluate:\n(.*?)\n\n###Response to evaluate:\n(.*?)\n\n###Reference", re.DOTALL
    )
    for row in folder.rows("prometheus_vicuna"):
        scores = [score for score in row["scores"] if isinstance(score, int | float)]
        if scores and (found := parts.search(row["instruction"])):
            yield found[1].strip(), found[2].strip(), fmean(scores)


def rated(folder: DataFolder) -> Iterator[Case]:
    for instruction, answer, score in answers(folder):
        yield _rated(instruction, answer, score >= GOOD)


def _rated(instruction: str, answer: str, good: bool) -> Case:
    def read(result: Evaluation) -> Said:
        scores = [metric.score for metric in result.metrics if metric.score is not None]
        return by_half(fmean(scores)) if scores else (True, None)

    turns = [{"role": "user", "content": instruction}, {"role": "assistant", "content": answer}]
    longer = len(answer) / (len(answer) + 1000)
    plain = {"length": lambda: by_half(longer)}
    return judged_case("prometheus, all metrics", lambda: evaluate(turns), ("answer", good), read, plain)


def pairs(folder: DataFolder) -> Iterator[Case]:
    by_instruction: dict[str, list[tuple[float, str]]] = defaultdict(list)
    for instruction, answer, score in answers(folder):
        by_instruction[instruction].append((score, answer))
    for number, (instruction, found) in enumerate(by_instruction.items()):
        (worst, bad), (best, good) = min(found), max(found)
        if best - worst >= 1:
            yield _pair(instruction, good, bad, first=number % 2 == 0)


def _pair(instruction: str, good: str, bad: str, *, first: bool) -> Case:
    """``first``: the better one is given first; every other pair the other way round."""

    def observe(result: Preference) -> Observed:
        return seen(0.5 if result.choice == "tie" else float((result.choice == "first") == first))

    def seen(better: float) -> Observed:
        return Observed({"prefers the better": better, "ties": float(better == 0.5)})

    two = (good, bad) if first else (bad, good)
    turns = [{"role": "user", "content": instruction}]
    longer = float(len(good) > len(bad))
    return Case("prometheus, pairs", lambda: compare(turns, *two), observe, {"the longer": lambda: seen(longer)})


expertqa = each_answer(claim)("expertqa")
TABLE = Table(
    "evaluate",
    {
        "expertqa, faithfulness": expertqa,
        "prometheus, all metrics": rated,
        "prometheus, pairs": pairs,
    },
    {"answer": {"AUROC": auroc, "weighted F1": weighted_f1}},
)
