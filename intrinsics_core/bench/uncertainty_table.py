"""Uncertainty: is the certainty a probability of being right (ECE in 10 bins, MAE), and does it tell right from wrong
(AUROC, Brier skill, risk-coverage)? A constant has a perfect ECE, so the two kinds stand together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from intrinsics_core.bench import own
from intrinsics_core.bench.base import Case, Said, Table, judged_case
from intrinsics_core.bench.datasets import recorded_answers
from intrinsics_core.bench.folder import DataFolder
from intrinsics_core.bench.measures import auroc, brier_skill, ece, mae, risk_coverage
from intrinsics_core.bench.plain import best_coverage
from intrinsics_core.bench.support_sets import each_answer
from intrinsics_core.intrinsics import uncertainty
from intrinsics_core.protocol.results import Uncertainty


def case(name: str, messages: Sequence[Any], documents: Sequence[Any], truth: bool) -> Case:
    def read(result: Uncertainty) -> Said:
        return None, result.certainty if result.expected is None else result.expected

    plain: dict[str, Callable[[], Said]] = {"always .5": lambda: (None, 0.5)}
    if documents:
        plain["word coverage"] = lambda: (None, best_coverage(messages[-1]["content"], own.texts_of(documents)))
    return judged_case(name, lambda: uncertainty(messages, documents), ("answer", truth), read, plain)


answers = each_answer(lambda name, row: case(name, row.messages, row.sources, row.supported))


def recorded(folder: DataFolder) -> Iterator[Case]:
    """Answers of four models to TruthfulQA, without documents: nothing but the model itself could know."""
    for row in recorded_answers(folder):
        if row.answer.strip():
            messages = [{"role": "user", "content": row.question}, {"role": "assistant", "content": row.answer}]
            yield case("truthfulqa, recorded", messages, [], row.truthful)


def mine(row: Mapping[str, Any]) -> Case:
    found = own.documents(row) if row.get("documents") is not None else []
    truth = own.truth(row, "uncertainty")
    return case("own", own.conversation(row, answered=True), found, truth)


TABLE = Table(
    "uncertainty",
    {"everyday": answers("everyday"), "halueval": answers("halueval"), "truthfulqa, recorded": recorded},
    {"answer": {"ECE": ece, "MAE": mae, "AUROC": auroc, "Brier skill": brier_skill, "risk-coverage": risk_coverage}},
    own=mine,
    columns={
        "question or messages": "the conversation",
        "answer": "unless messages end with it",
        "documents": "texts; may be left out",
        "label": "right or wrong",
    },
)
