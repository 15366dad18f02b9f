"""Hallucination detection: precision, recall, F1 and AUROC of what is *not* supported, by response and by sentence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from intrinsics_core.bench import own
from intrinsics_core.bench.base import Case, Labelled, Observed, Table
from intrinsics_core.bench.datasets import SetsOf
from intrinsics_core.bench.measures import auroc, f1, precision, recall
from intrinsics_core.bench.plain import coverage
from intrinsics_core.bench.support_sets import Answered, each_answer
from intrinsics_core.intrinsics import hallucination_detection
from intrinsics_core.protocol.results import HallucinationDetection


def case(name: str, row: Answered) -> Case:
    """Truth, label and score are all about the hallucination: true is *unsupported*, the score 1 - faithfulness."""

    def observed(label: bool, score: float | None, sentences: list[Labelled]) -> Observed:
        response: dict[str, list[Labelled]] = {"response": [(not row.supported, label, score)]}
        return Observed(labelled=response | ({"sentence": sentences} if sentences else {}))

    def observe(result: HallucinationDetection) -> Observed:
        sentences: list[Labelled] = []
        for begin, end, supported in row.sentences:
            # Where the runtime splits otherwise: the worst of what it says of any part of the labelled sentence.
            parts = [s for s in result.sentences if s.begin < end and begin < s.end and s.label != "NA"]
            scores = [s.score for s in parts if s.score is not None]
            flagged = any(s.label != "faithful" for s in parts)
            sentences.append((not supported, flagged, _against(min(scores, default=1.0))))
        return observed(result.label not in ("faithful", "NA"), _against(result.score), sentences)

    def covered() -> Observed:
        shares = [coverage(row.answer[begin:end], row.sources) for begin, end, _ in row.sentences]
        whole = coverage(row.answer, row.sources)
        sentences: list[Labelled] = [
            (not supported, share < 0.5, 1 - share)
            for (_, _, supported), share in zip(row.sentences, shares, strict=True)
        ]
        return observed(whole < 0.5, 1 - whole, sentences)

    def all_flagged() -> Observed:
        return observed(True, None, [(not supported, True, None) for _, _, supported in row.sentences])

    baselines = {"all flagged": all_flagged, "word coverage": covered}
    return Case(name, lambda: hallucination_detection(row.messages, row.sources), observe, baselines)


def _against(score: float | None) -> float | None:
    return None if score is None else 1 - score


def mine(row: Mapping[str, Any]) -> Case:
    return case("own", own.answered(row, "hallucination-detection"))


_MEASURES = {"precision": precision(True), "recall": recall(True), "F1": f1(True), "AUROC": auroc}

TABLE = Table(
    "hallucination-detection",
    SetsOf(("hallucination-detection", "", each_answer(case))),
    {"response": _MEASURES, "sentence": _MEASURES},
    own=mine,
    columns={
        "question": "may be left out",
        "answer": "or messages that end with it",
        "documents": "texts",
        "label": "faithful or unfaithful",
    },
)
