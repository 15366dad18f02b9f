"""Fact check: AUROC per set, as Provenance's and TRUE's tables have it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from intrinsics_core.bench import own
from intrinsics_core.bench.base import Case, Published, Said, Table, judged_case
from intrinsics_core.bench.datasets import SetsOf
from intrinsics_core.bench.measures import auroc
from intrinsics_core.bench.plain import coverage
from intrinsics_core.bench.support_sets import Answered, each_answer
from intrinsics_core.intrinsics import fact_check
from intrinsics_core.protocol.results import FactCheck

_PAPER = "Provenance: A Light-weight Fact-checker for Retrieval Augmented LLM Generation Output (EMNLP 2024 industry)"


def case(name: str, row: Answered) -> Case:
    def read(result: FactCheck) -> Said:
        return None, result.score

    plain = {"word coverage": lambda: (None, coverage(row.answer, row.sources))}
    truth = ("response", row.supported)
    return judged_case(name, lambda: fact_check(row.messages, row.sources), truth, read, plain)


def mine(row: Mapping[str, Any]) -> Case:
    return case("own", own.answered(row, "fact-check"))


TABLE = Table(
    "fact-check",
    SetsOf(("fact-check", "", each_answer(case))),
    {"response": {"AUROC": auroc}},
    own=mine,
    columns={
        "question": "may be left out",
        "answer": "the claim",
        "documents": "texts",
        "label": "supported or unsupported",
    },
    published=tuple(
        Published(name, "AUROC", value, "Provenance", _PAPER)
        for name, value in (("begin", 0.80), ("fever", 0.92), ("halueval", 0.74))
    ),
)
