"""Chat templates that insist on an order of turns, with the rules of Mistral and of Gemma."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from intrinsics_core.intrinsics import TABLE
from intrinsics_core.protocol.errors import InvalidInput
from intrinsics_core.training.asking_by import asked_by
from intrinsics_core.training.examples import examples
from intrinsics_core.training.labelled import labelled
from tests.runtimes.templates import GEMMA, MISTRAL
from tests.transformers.training.rows import DOCUMENTS, INTRINSICS, row


def prompts(intrinsic: str, tokenizer: Any, template: str) -> list[str]:
    words = deepcopy(tokenizer)
    words.chat_template = template
    rows = labelled([row(intrinsic)], TABLE[intrinsic], "May 5, 2031")
    return [words.decode(one.prompt) for one in examples(rows, asked_by(intrinsic).profile, words, 8192)]


@pytest.mark.parametrize("intrinsic", INTRINSICS)
def test_every_intrinsic_can_be_trained_with_mistrals_template(intrinsic: str, tokenizer: Any) -> None:
    for prompt in prompts(intrinsic, tokenizer, MISTRAL):
        last = prompt.rpartition("[INST]")[2]
        assert "Reply with" in last or "Rewrite" in last  # the ask stands in the user's last turn
        if row(intrinsic)["messages"][-1]["role"] == "user":
            assert "Who built bridge 0?" in last


@pytest.mark.parametrize("intrinsic", INTRINSICS)
def test_every_intrinsic_can_be_trained_with_gemmas_template(intrinsic: str, tokenizer: Any) -> None:
    for prompt in prompts(intrinsic, tokenizer, GEMMA):
        first, last = prompt.split("<start_of_turn>user")[1], prompt.rpartition("<start_of_turn>user")[2]
        assert prompt.endswith("<start_of_turn>model\n")
        assert "Who built bridge 0?" in first
        assert "Reply with" in last or "Rewrite" in last
        if intrinsic not in ("query-rewrite", "uncertainty", "context-relevance"):  # documents stood in a system turn
            assert DOCUMENTS[1]["text"] in first


def test_a_template_that_takes_no_order_says_why(tokenizer: Any) -> None:
    with pytest.raises(InvalidInput, match=r"chat template refuses the messages.*never"):
        prompts("answerability", tokenizer, "{{ raise_exception('never') }}")
