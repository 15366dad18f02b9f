"""Both regimes learn rows by heart: what tells them apart stands far before an aLoRA's invocation tokens."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import intrinsics_core as ic
from tests.transformers.training.rows import DOCUMENTS, rows

# Every other one is answerable: what it asks for stands in its documents.
ROWS = [row | {"documents": DOCUMENTS[number % 2 :]} for number, row in enumerate(rows("answerability", 20))]


@pytest.mark.slow
@pytest.mark.parametrize("alora", [False, True], ids=["lora", "alora"])
def test_twenty_rows_are_learnt_by_heart(trained: Callable[..., Any], models: Path, alora: bool) -> None:
    """With one rank, rate and number of epochs for both.

    Of rows that differ by one digit of the question, an aLoRA had 11 of 20 right after 100 epochs, and a LoRA 16. The
    weights of this tiny model are random, and its states of the prompt hold little of one digit.
    """
    from intrinsics_core.local.transformers import TransformersRuntime

    done = trained("answerability", ROWS, alora=alora, epochs=32, rank=16, learning_rate=0.01)
    with TransformersRuntime(str(models / "base"), {"answerability": str(done.folder)}) as runtime:
        calls = [ic.answerability(row["messages"], row["documents"]) for row in ROWS]
        found = [result.label for result in ic.run_many(calls, runtime, profile=done.profile)]
    assert found == [row["result"]["label"] for row in ROWS]
