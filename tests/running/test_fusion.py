"""Reciprocal rank fusion."""

from __future__ import annotations

from intrinsics_core import Document
from intrinsics_core.running.flows import fused

A, B, C = (Document(text, id=text) for text in "abc")


def test_ranks_count_from_one() -> None:
    # b: 2 / 3, a: 1 / 2. From rank 0 both would have 1, and the first one met would win.
    assert fused([[A], [C, B], [Document("d", id="d"), B]], constant=1)[0] == B


def test_what_several_rankings_hold_comes_first() -> None:
    assert fused([[A, B, C], [B, C], [B]]) == [B, C, A]


def test_ties_keep_the_order_in_which_items_were_met() -> None:
    assert fused([[A, B], [B, A]]) == [A, B]


def test_a_ranking_that_holds_a_document_twice_counts_its_better_place() -> None:
    assert fused([[A, B, B]]) == [A, B]
    assert fused([[B, A, A, A], [C]]) == [B, C, A]


def test_documents_are_the_same_by_id_and_text() -> None:
    assert fused([[Document("x")], [Document("x", score=1.0)]]) == [Document("x")]
    assert fused([[Document("x", id="1"), Document("x", id="2")]]) == [Document("x", id="1"), Document("x", id="2")]
    assert len(fused([[Document("y", id="x")], [Document("x")]])) == 2  # an id is no text
    assert len(fused([[Document("y", id="x")], [Document("z", id="x")]])) == 2  # parts of one document
    assert len(fused([[Document("y", id="x", score=1.0)], [Document("y", id="x", score=2.0)]])) == 1


def test_anything_with_a_key_can_be_fused() -> None:
    assert fused([["One", "two"], ["TWO"]], key=str.casefold) == ["two", "One"]


def test_nothing_is_nothing() -> None:
    assert fused([]) == fused([[], []]) == []
