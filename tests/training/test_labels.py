"""Rows may say a label as a word, as true or false, or as a result; what is learnt is the same."""

from __future__ import annotations

from typing import Any

import pytest

from intrinsics_core import InvalidInput, calibrate
from intrinsics_core.bench import own
from intrinsics_core.intrinsics import TABLE
from intrinsics_core.protocol.results import Answerability
from intrinsics_core.training.labelled import labelled

QUESTION = [{"role": "user", "content": "Who built it?"}]
ANSWERED = [*QUESTION, {"role": "assistant", "content": "Ada Brink built it. It is blue."}]
DOCUMENTS = [{"id": "a", "text": "Ada Brink built it."}, {"id": "b", "text": "Fog is common."}]
SAID = {"begin": 0, "end": 19, "text": "Ada Brink built it."}
BLUE = {"begin": 20, "end": 31, "text": "It is blue."}
RELEVANT = {"judgements": [
    {"document_id": "a", "index": 0, "label": "relevant", "score": 1.0},
    {"document_id": "b", "index": 1, "label": "irrelevant", "score": 0.0},
]}  # fmt: skip
FLAGGED = {"label": "unfaithful", "score": 0.0, "sentences": [
    SAID | {"label": "faithful", "score": 1.0}, BLUE | {"label": "unfaithful", "score": 0.0},
]}  # fmt: skip
SAME: list[tuple[str, Any, Any]] = [
    ("answerability", "answerable", {"label": "answerable", "probability": 1.0}),
    ("answerability", False, {"label": "unanswerable", "probability": 0.0}),
    ("answerability", {"label": "Answerable"}, {"label": "answerable", "probability": 1.0}),
    ("answerability", {"label": "answerable", "probability": 0.7}, {"label": "answerable", "probability": 0.7}),
    ("answerability", Answerability(label="unanswerable", probability=0.2),
     {"label": "unanswerable", "probability": 0.2}),
    ("context-relevance", ["relevant", False], RELEVANT),
    ("context-relevance", {"judgements": [{"label": "relevant"}, {"label": "irrelevant"}]}, RELEVANT),
    ("hallucination-detection", {"sentences": [SAID | {"label": True}, BLUE | {"label": "unfaithful"}]}, FLAGGED),
    ("uncertainty", "right", {"certainty": 0.95}),
    ("uncertainty", 0, {"certainty": 0.05}),
]  # fmt: skip


def row(intrinsic: str, **said: Any) -> dict[str, Any]:
    answered = TABLE[intrinsic].judges_answers
    return {"messages": ANSWERED if answered else QUESTION, "documents": DOCUMENTS} | said


@pytest.mark.parametrize(("intrinsic", "said", "meant"), SAME)
@pytest.mark.parametrize("column", ["label", "result"])
def test_what_is_learnt_is_the_whole_result(intrinsic: str, said: Any, meant: Any, column: str) -> None:
    (read,) = labelled([row(intrinsic, **{column: said})], TABLE[intrinsic], "May 5, 2031")
    assert read.result == TABLE[intrinsic].result.model_validate(meant)


@pytest.mark.parametrize(
    ("intrinsic", "said", "why"),
    [
        ("answerability", "perhaps", "label is not a known label; expected true, false or one of answerable"),
        ("context-relevance", "relevant", "label must have one label for each document; expected 2 labels"),
        ("hallucination-detection", "faithful", "label does not say which sentences are unfaithful"),
        ("answerability", None, "row 1 has neither 'label' nor 'result'"),
    ],
)
def test_what_cannot_be_learnt_is_named(intrinsic: str, said: Any, why: str) -> None:
    with pytest.raises(InvalidInput, match=why):
        labelled([row(intrinsic, label=said)], TABLE[intrinsic], "May 5, 2031")


def test_rows_of_results_train_calibrate_and_measure_alike() -> None:
    """What `intrinsics run` wrote, corrected by a person, serves all three."""
    rows = [
        {"messages": [{"role": "user", "content": f"Who built the {what}?"}], "documents": [f"{who} built the {what}."],
         "result": {"label": "answerable" if who == "Ada" else "unanswerable", "probability": None}}
        for what in ("mill", "pier", "inn", "weir", "barn")
        for who in ("Ada", "Nobody knows who")
    ]  # fmt: skip
    plain = [row | {"label": row["result"]["label"] == "answerable"} for row in rows]
    assert calibrate("answerability", rows) == calibrate("answerability", plain)
    for one in (rows, plain):
        assert [own.truth(row, "answerability") for row in one] == [True, False] * 5
