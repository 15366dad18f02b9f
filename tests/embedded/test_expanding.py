"""Expansions are named, distinct, never empty, and feedback comes from the passages alone."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from intrinsics_core.embedded.query.expanding import FEEDBACK_TERMS, expand, feedback_terms
from intrinsics_core.embedded.query.rewriting import rewrite
from intrinsics_core.embedded.query.salience import Turn
from intrinsics_core.embedded.words import terms
from tests.drawing import drawn

CHEESE: list[Turn] = [
    ("user", "How is Brindle Fell cheese made?"),
    ("assistant", "Brindle Fell cheese is washed in cider and aged for ten weeks."),
    ("user", "How long can it be stored?"),
]
PASSAGES = [
    "Brindle Fell cheese keeps for three months in a cool larder if stored in waxed paper.",
    "Waxed paper lets a stored cheese breathe; a larder is better than a refrigerator.",
    "Trains to the coast leave every hour.",
]


def test_strategies_in_order() -> None:
    found = expand(CHEESE, PASSAGES)
    assert [strategy for _, strategy in found] == ["original", "rewrite", "keywords", "pseudo-relevance"]
    by_name = {strategy: text for text, strategy in found}
    assert by_name["original"] == "How long can it be stored?"
    assert by_name["rewrite"] == rewrite(CHEESE).query
    assert by_name["keywords"].startswith("long stored")
    assert "Brindle Fell cheese" in by_name["keywords"]
    assert by_name["pseudo-relevance"].startswith(by_name["keywords"])


def test_feedback_is_what_the_matching_passages_share() -> None:
    found = feedback_terms("store Brindle Fell cheese", PASSAGES)
    assert {"wax", "paper", "larder"} <= set(found)
    assert not {"train", "coast", "chees", "store"} & set(found)
    assert len(found) <= FEEDBACK_TERMS
    assert feedback_terms("quantum chromodynamics", PASSAGES) == []


def test_feedback_is_spelled_as_the_passages_do() -> None:
    text = {strategy: text for text, strategy in expand(CHEESE, PASSAGES)}["pseudo-relevance"]
    assert "waxed paper" in text.casefold()


def test_a_query_equal_but_for_case_and_spacing_is_left_out() -> None:
    assert expand([("user", "Goat  cheese?")]) == [("Goat  cheese?", "original")]


@settings(max_examples=drawn(200))
@given(
    st.lists(st.tuples(st.sampled_from(["user", "assistant"]), st.text(max_size=80)), max_size=4),
    st.text(max_size=80),
    st.lists(st.text(max_size=120), max_size=4),
)
@example([], "𠀀'0", [])  # the apostrophe after a CJK character was once a part of the word
def test_any_text_expands(history: list[Turn], last: str, passages: list[str]) -> None:
    found = expand([*history, ("user", last)], passages)
    assert found[0] == (last, "original")
    texts = [" ".join(text.casefold().split()) for text, _ in found]
    assert len(set(texts)) == len(texts)
    assert all(texts[1:])
    said = {term for text in (last, *passages, *(text for _, text in history)) for term in terms(text, stopwords=True)}
    assert {term for text, _ in found for term in terms(text)} <= said


def test_the_last_turn_must_be_the_users() -> None:
    with pytest.raises(ValueError, match="last turn"):
        expand([])
