"""Probabilities are those of the verdict, and are read where it stands."""

from __future__ import annotations

import math
from typing import Any

import pytest

from intrinsics_core import answerability, context_relevance, run
from intrinsics_core.protocol.requests import Generated, TokenLogprob
from intrinsics_core.replies import readers
from intrinsics_core.runtimes.scripted import Scripted

ASK = [{"role": "user", "content": "Who built the mill?"}]
DOCUMENTS = ["Ada Brink built the mill."]


def said(*parts: str | tuple[str, dict[str, float]]) -> Generated:
    """A reply by its tokens; those that a pair names have alternatives."""
    pairs = [(part, {part: 1.0}) if isinstance(part, str) else part for part in parts]
    tokens = [
        TokenLogprob(text, math.log(odds[text]), tuple((name, math.log(p)) for name, p in odds.items()))
        for text, odds in pairs
    ]
    return Generated("".join(text for text, _ in pairs), tuple(tokens))


def gate(*parts: Any) -> Any:
    return run(answerability(ASK, DOCUMENTS), Scripted([said(*parts)]))


DOUBTFUL = ("answerable", {"answerable": 0.7, "unanswerable": 0.3})
CERTAIN = ("answerable", {"answerable": 0.99, "unanswerable": 0.01})


@pytest.mark.parametrize(
    "before",
    [
        [],
        ['Of "answerability": "', CERTAIN, '" I am not sure.\n'],
        ['Draft: {"answerability": "', ("unanswerable", {"unanswerable": 1.0}), '"}. '],
        ["The field 'answerability' says: "],
    ],
)
def test_a_probability_is_read_in_the_object_that_is_read(before: list[Any]) -> None:
    found = gate(*before, '{"answerability": "', DOUBTFUL, '"}')
    assert (found.label, found.probability) == ("answerable", pytest.approx(0.7))


def test_a_field_before_it_may_spell_its_name() -> None:
    text = '{"reason": "\\"answerability\\": \\"unanswerable\\"", "more": {"answerability": "x"}, "answerability": "'
    assert gate(text, DOUBTFUL, '"}').probability == pytest.approx(0.7)


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ('{"a": 1, "b": 2}', " 2}"),
        ("{'a': 1, 'b': 2,}", " 2,}"),
        ('So "b": 7. {"c": {"b": 3}, "b": 2}', " 2}"),
        ('{"b": "b", "c": "b"}', ' "b", "c": "b"}'),
        ('{"b": 1, "b": 2}', " 2}"),
        ('{"c": 1}', '{"c": 1}'),
    ],
)
def test_where_a_value_begins(text: str, rest: str) -> None:
    assert text[readers.value_start(Generated(text, (TokenLogprob(text, 0.0),)), "b") :] == rest
    assert readers.value_start(Generated(text), "b") == 0  # nothing is looked up there


def test_a_label_that_was_drawn_against_the_odds_is_just_above_an_even_chance() -> None:
    def against(odds: float) -> Any:
        drawn = ("unanswerable", {"unanswerable": odds, "answerable": 1 - odds})
        return gate('{"answerability": "', drawn, '"}')

    hardly, unlikely, likelier, agreed = against(1e-9), against(0.2), against(0.4), against(0.6)
    assert {one.label for one in (hardly, unlikely, likelier, agreed)} == {"unanswerable"}
    # The odds order them still.
    assert 0.5 > hardly.probability > unlikely.probability > likelier.probability > 0.49
    assert agreed.probability == pytest.approx(0.4)
    odds = {"relevant": 0.2, "partially relevant": 0.2, "irrelevant": 0.6}
    reply = said('{"context_relevance": "', ("relevant", odds), '"}')
    (judged,) = run(context_relevance(ASK, DOCUMENTS), Scripted([reply])).judgements
    shares = [(0.2 + 0.4) / 1.4, 0.2 / 1.4, 0.6 / 1.4]  # lifted to the likeliest, all in proportion
    assert (judged.label, judged.score) == ("relevant", pytest.approx(shares[0] + 0.5 * shares[1], abs=0.01))
