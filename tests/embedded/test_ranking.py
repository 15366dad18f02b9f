"""Reranking: finds what was buried, ignores the order it was given, survives odd input."""

import random

import numpy as np
import pytest

from intrinsics_core.embedded.models.bi_encoder import BiEncoder
from intrinsics_core.embedded.scoring.ranking import best_cosine, rerank_scores, standardised, with_title
from intrinsics_core.protocol.errors import InvalidInput

PASSAGES = [
    ("Opening hours", "The archive is open to readers from Tuesday to Saturday between nine and five."),
    ("Lighthouse", "The lighthouse at Cape Orlo was built in 1871 after three ships were lost on the reef."),
    ("Harbour fees", "Mooring in the inner harbour costs twelve crowns a night; outer berths are free in winter."),
    ("Ferry", "The ferry to the island leaves every two hours and does not run in storms."),
    ("Museum", "Paintings by Ida Velin hang on the first floor of the museum, next to the ship models."),
    ("Bakery", "Bread is baked before dawn; the rye loaf sells out by eight."),
    ("Storm of 1868", "Waves of eleven metres destroyed the old pier and drowned four fishermen."),
    ("Swimming", "Children may bathe only when the lifeguard's flag is green."),
]
QUESTIONS = {
    "When was the Cape Orlo lighthouse built?": 1,
    "How much does it cost to moor a boat overnight?": 2,
    "Can I take a boat to the island in bad weather?": 3,
    "Where can I see works by the painter Velin?": 4,
    "What happened to the pier?": 6,
    "Are kids allowed to swim at the beach?": 7,
}


@pytest.fixture(scope="module")
def encoder():
    with BiEncoder() as shared:
        yield shared


def scores(encoder, question, passages, **more):
    texts = [with_title(text, title) for title, text in passages]
    return rerank_scores(
        question,
        [text for _, text in passages],
        encoder.encode([question])[0],
        encoder.encode(texts),
        titles=[title for title, _ in passages],
        **more,
    )


def test_the_answering_passage_comes_first(encoder):
    for question, wanted in QUESTIONS.items():
        assert int(np.argmax(scores(encoder, question, PASSAGES))) == wanted, question


def test_order_of_the_candidates_leaves_no_trace(encoder):
    order = list(range(len(PASSAGES)))
    for question in QUESTIONS:
        straight = scores(encoder, question, PASSAGES)
        random.Random(question).shuffle(order)
        assert scores(encoder, question, [PASSAGES[i] for i in order]) == [straight[i] for i in order]


def test_words_decide_where_vectors_are_equal():
    same = np.ones((1, 4), np.float32) / 2
    passages = ["error code E1207 means low pressure", "error code E4431 means low voltage", "hello"]
    found = rerank_scores("what is E4431", passages, same, [same] * 3)
    assert found[1] == max(found)
    assert found[0] == pytest.approx(found[2])


def test_vectors_decide_where_no_word_matches():
    rows = np.eye(3, dtype=np.float32)
    found = rerank_scores("x", ["a", "b", "c"], rows[:1], [rows[1:2], rows[:1], rows[2:]])
    assert found[1] > 0.5 > found[0] == found[2]


def test_the_best_window_counts():
    rows = np.eye(3, dtype=np.float32)
    assert best_cosine(rows[:1], rows) == 1.0
    assert best_cosine(rows[:1], rows[1:]) == 0.0
    assert best_cosine(rows[:0], rows) == 0.0


def test_prior_moves_but_does_not_rule(encoder):
    question, wanted = "When was the Cape Orlo lighthouse built?", 1
    plain = scores(encoder, question, PASSAGES)
    backwards = scores(encoder, question, PASSAGES, prior=[float(i) for i in range(8)])
    assert backwards[7] > plain[7]
    assert int(np.argmax(backwards)) == wanted
    assert scores(encoder, question, PASSAGES, prior=[1.0] * 8) == plain
    assert scores(encoder, question, PASSAGES, prior=[*range(7), None]) == plain


@pytest.mark.parametrize("count", [0, 1, 2, 3, 33, 66])
def test_any_number_of_candidates(encoder, count):
    found = scores(encoder, "Who painted the ships?", [PASSAGES[i % 8] for i in range(count)])
    assert len(found) == count
    assert all(0 < score < 1 for score in found)
    if count == 1:
        assert found == [0.5]


def test_odd_texts(encoder):
    odd = [("", ""), ("", " \n"), ("🎉", "🎉🎉"), ("", "猫は窓のそばで眠っている。"), ("", "word " * 5000), PASSAGES[1]]
    for question in ("", "🎉", "猫はどこ", "When was the lighthouse built?"):
        assert all(0 < score < 1 for score in scores(encoder, question, odd))
    assert int(np.argmax(scores(encoder, "When was the lighthouse built?", odd))) == 5


def test_lengths_and_numbers_are_checked():
    row = np.ones((1, 1), np.float32)
    with pytest.raises(InvalidInput, match="passage_vectors"):
        rerank_scores("q", ["a", "b"], row, [row])
    with pytest.raises(InvalidInput, match="titles"):
        rerank_scores("q", ["a"], row, [row], titles=[])
    with pytest.raises(InvalidInput, match="prior"):
        rerank_scores("q", ["a"], row, [row], prior=[float("nan")])


def test_standardised_by_hand():
    assert standardised([1.0, 3.0]) == [-1.0, 1.0]
    assert standardised([5.0]) == [0.0]
    assert standardised([0.1] * 7) == [0.0] * 7
