"""Tokens keep offsets, terms are normalised, BM25 and coverage behave as their definitions say."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intrinsics_core.embedded import words
from intrinsics_core.embedded.words import bm25, idf, terms, tokens
from tests.drawing import drawn


@settings(max_examples=drawn(300))
@given(st.text())
def test_token_offsets_point_into_the_text(text: str) -> None:
    found = tokens(text)
    assert all(text[token.begin : token.end] == token.text for token in found)
    assert [token.begin for token in found] == sorted(token.begin for token in found)
    assert all(token.term for token in found)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The runners were running", ["runner", "run"]),
        ("Marie Curie's discoveries", ["mari", "curi", "discoveri"]),
        ("It cost $1,200.50, or 1,200 euros", ["cost", "1200.50", "1200", "euro"]),
        ("the U.S. and the US, not us", ["us", "us"]),
        ("東京都", ["東京", "京都"]),
        ("水", ["水"]),
        ("水'0 and 0’水", ["水", "0", "0", "水"]),  # an apostrophe between two scripts belongs to neither
        ("é's's", ["é"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("don't you've what’s", []),
        ("e.g. COVID-19", ["covid", "19"]),
        ("🎉 … !!", []),
        ("", []),
    ],
)
def test_terms(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


def test_an_upper_case_text_has_no_emphasis() -> None:
    assert terms("WHAT IS IT ABOUT") == []
    assert terms("What is IT about") == ["it"]


def test_stopwords_come_back_when_asked_for() -> None:
    assert terms("the cat", stopwords=True) == ["the", "cat"]


def test_numbers_and_capitals_are_told_apart() -> None:
    found = {token.text: (token.is_number, token.is_capitalised) for token in tokens("In 1990s Paris B12 was cheap")}
    assert found["1990s"] == (True, False)
    assert found["Paris"] == (False, True)
    assert found["B12"] == (True, True)
    assert found["cheap"] == (False, False)


def test_rare_terms_weigh_more_than_common_ones() -> None:
    assert idf("the") < 1 < idf("peopl") < idf("thermonuclear")
    assert idf("zzqxv") == words.background().default >= max(words.background().table.values())


def test_bm25_ranks_by_match_and_rarity() -> None:
    texts = ["radium was discovered by Marie Curie", "a year of people and time", "", "radium glows in every dark room"]
    docs = [terms(text) for text in texts]
    scores = bm25(terms("who discovered radium"), docs)
    assert scores[0] > scores[3] > scores[1] == scores[2] == 0.0
    assert bm25([], docs) == [0.0] * 4
    assert bm25(["radium"], []) == []


def test_bm25_is_the_formula_for_one_document() -> None:
    # One document is as long as the mean, so its length does not count; own idf has weight 1 / 51.
    own = math.log1p(0.5 / 1.5)
    rarity = (50 * idf("radium") + own) / 51
    assert bm25(["radium"], [["radium", "radium", "people"]]) == [pytest.approx(rarity * 2 * 2.2 / (2 + 1.2))]


def test_bm25_counts_repeats() -> None:
    docs = [["radium"], ["curi"]]
    assert bm25(["radium", "radium"], docs) == [pytest.approx(2 * score) for score in bm25(["radium"], docs)]


def test_many_candidates_replace_the_background() -> None:
    common, rare = (bm25(["thermonuclear"], [["thermonuclear"]] * count)[0] for count in (5000, 1))
    assert common < 0.05 * rare


@settings(max_examples=drawn(100))
@given(st.text(), st.lists(st.text(), max_size=5))
def test_bm25_scores_any_text(query: str, docs: list[str]) -> None:
    scores = bm25(terms(query), [terms(doc) for doc in docs])
    assert len(scores) == len(docs)
    assert all(math.isfinite(score) and score >= 0.0 for score in scores)
