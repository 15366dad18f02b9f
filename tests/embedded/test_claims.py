"""What claims nothing is NA, what the conversation itself supports is NA, and everything else is judged."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest

from benchmarks.quality_small_talk import is_claim, should_be
from intrinsics_core import hallucination_detection, run
from intrinsics_core.embedded.claims import Spoken, makes_claim, unaddressed
from intrinsics_core.embedded.evidence import look_up
from intrinsics_core.embedded.models.bi_encoder import BiEncoder
from intrinsics_core.embedded.sources import Sources
from intrinsics_core.embedded.support import load_head, support
from intrinsics_core.protocol.task import check
from training.small_talk import Row, sentences

LEASE = [
    "The rent is 900 euros a month. The tenant may keep one cat. The lift is out of order. Ada Brink is the caretaker."
]
SENT = {"name": "send_email", "arguments": '{"to": "anna@example.org", "subject": "The lease"}'}


def talk(*turns: str) -> list[dict[str, Any]]:
    return [{"role": ("user", "assistant")[i % 2], "content": text} for i, text in enumerate(turns)]


def judged(turns: list[dict[str, Any]]) -> Any:
    return run(hallucination_detection(turns, LEASE))


def labels(question: str, answer: str, *, system: str = "", calls: Iterable[Any] = ()) -> list[str]:
    turns = [{"role": "system", "content": system}] if system else []
    turns += [{"role": "user", "content": question}]
    turns += [{"role": "assistant", "content": answer, "tool_calls": list(calls)}]
    return [sentence.label for sentence in judged(turns).sentences]


def shares(encoder: BiEncoder | None) -> dict[str, float]:
    """Of the held rows: the share of claims that are judged, and of other sentences that are NA."""
    found: dict[str, list[bool]] = {}
    for row in sentences():
        if row.held and row.label not in ("self", "command"):
            found.setdefault(kind(row), []).append(is_claim(encoder, row) is should_be(row))
    return {name: sum(some) / len(some) for name, some in found.items()}


def kind(row: Row) -> str:
    return row.label if row.label != "report" else "told" if row.told else "untold"


@pytest.mark.slow
def test_the_held_sentences_are_told_apart(encoder: BiEncoder) -> None:
    found = shares(encoder)
    assert found["claim"] >= 0.96 and found["nothing"] >= 0.91, found
    assert found["told"] >= 0.65 and found["untold"] >= 0.85, found


def test_words_alone_tell_less() -> None:
    found = shares(None)
    assert found["claim"] >= 0.95 and found["nothing"] >= 0.84, found


def test_no_sentence_is_written_twice() -> None:
    every = [(row.text, str(row.calls)) for row in sentences()]
    assert len(set(every)) == len(every)


@pytest.mark.parametrize("text", ["", "   ", "...", "🎉", "[1]", "(Passage 2)", "Page 3 of 10", "a)", "|---|", "```"])
def test_what_is_format_claims_nothing(text: str) -> None:
    assert not makes_claim(text)


def test_a_number_is_a_claim_only_alone() -> None:
    assert makes_claim("42.", alone=True)


def test_a_report_is_na_only_where_its_call_was_made() -> None:
    asked = "Mail Anna what the rent is."
    assert labels(asked, "I have sent the email to Anna.", calls=[SENT]) == ["NA"]
    for calls in ([], [{"name": "cancel_order"}], [{"name": "search", "arguments": "Anna email"}]):
        assert labels(asked, "I have sent the email to Anna.", calls=calls) != ["NA"], calls
    for claim in ("I have sent the email to Bruno.", "I sent Anna the news that the rent rose in 1940."):
        assert labels(asked, claim, calls=[SENT]) != ["NA"]
    both = labels(asked, "I have sent the email to Anna. The rent is 900 euros a month.", calls=[SENT])
    assert both == ["NA", "faithful"]


def test_calls_are_those_of_the_turn() -> None:
    turns = [
        {"role": "user", "content": "Mail Anna."},
        {"role": "assistant", "content": None, "tool_calls": [{"type": "function", "id": "1", "function": SENT}]},
        {"role": "tool", "content": "sent, message 5512", "tool_call_id": "1"},
    ]
    told = {"role": "assistant", "content": "I have sent the email to Anna, message 5512."}
    task = check("x", [*turns, told], (), ends_with=("assistant",))
    assert Spoken(task).tells(task.response, task.query)
    more = check("x", [*turns, told, {"role": "user", "content": "Mail Bob."}, told], (), ends_with=("assistant",))
    assert not Spoken(more).tells(more.response, more.query)


@pytest.mark.parametrize(
    ("sentence", "left"),
    [
        ("Breakfast is free, Tom.", "Breakfast is free."),
        ("Our manager is Tom.", "Our manager is Tom."),
        ("It opens at 9, Tom Hale.", "It opens at 9, Tom Hale."),  # which nobody has said
        ("It is run by Tom and Ben, who live here.", "It is run by Tom and Ben, who live here."),
    ],
)
def test_a_name_is_left_out_at_the_end_of_a_sentence(sentence: str, left: str) -> None:
    assert unaddressed(sentence, frozenset({"Tom"})) == left


def test_another_encoder_decides_by_words_alone() -> None:
    rows = np.full((1, 8), 8**-0.5, np.float32)  # of another size than those of the shipped encoder
    sources = Sources(["The rent is 900 euros."], [rows])
    found = look_up(["You are welcome!"], [rows], sources)
    assert support(found, sources, load_head(), own_encoder=True).label == "NA"
