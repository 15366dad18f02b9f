"""The reasoning before an answer."""

from __future__ import annotations

import pytest

from intrinsics_core.text.reasoning import blanked, unended


@pytest.mark.parametrize(
    ("answer", "left"),
    [
        ("<think>It was Otto. Or Ada?</think>\n\nAda built it.", "Ada built it."),
        (" <THINKING >\nOtto.\n</thinking>Ada.", "Ada."),
        ("<think></think>", ""),
        ("<reasoning>a</reasoning> b </reasoning> c", "b </reasoning> c"),
        ("It was Otto. Or Ada?</think>\n\nAda built it.", "Ada built it."),
        ("Otto?\n</think>Ada.", "Ada."),
        ("Ada.<|im_end|>", "Ada."),
        ("Ada. </s>\n", "Ada."),
        ("Ada\n<｜end▁of▁sentence｜><|eot_id|>", "Ada"),
        ("Ada.<end_of_turn>", "Ada."),
    ],
)
def test_reasoning_becomes_spaces_and_all_places_stay(answer: str, left: str) -> None:
    assert (blanked(answer).strip(), len(blanked(answer))) == (left, len(answer))


@pytest.mark.parametrize(
    "answer",
    ["", "Ada.", "Use <think>x</think>.", "Ada.</think>", "<think>Otto.", "<thin>a</thin>", "`</think>`\nends it.",
     "It ends with </think>. So it is.", "Each turn ends with </s>", "<|a|> b", "See [1]"],
)  # fmt: skip
def test_all_else_stays_as_it_is(answer: str) -> None:
    assert blanked(answer) == answer
    assert unended(answer) == (answer == "<think>Otto.")
