"""Reranking: finds what was buried, is sorted by what it shows, ignores the order it was given, survives odd input."""

import random

import pytest

from intrinsics_core import as_runtime, context_relevance, reranking, run

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


@pytest.fixture(scope="module", params=[None, False], ids=["reader", "encoder alone"])
def runtime(request):
    with as_runtime({"kind": "embedded", "reader": request.param}) as shared:
        yield shared


def ranked(runtime, question, passages, scores=None, **options):
    documents = [
        {"title": title, "text": text, "score": scores[i] if scores else None}
        for i, (title, text) in enumerate(passages)
    ]
    return run(reranking([{"role": "user", "content": question}], documents, **options), runtime)


def by_place(found):
    return [row.score for row in sorted(found.ranking, key=lambda row: row.index)]


def test_the_answering_passage_comes_first(runtime):
    for question, wanted in QUESTIONS.items():
        assert ranked(runtime, question, PASSAGES).ranking[0].index == wanted, question


def test_a_ranking_is_sorted_by_what_it_shows(runtime):
    """It was sorted by how a list differs in itself, and showed a probability: .50, .16, .09, .21 down the ranks."""
    for question in QUESTIONS:
        for scores in (None, [8.0, 7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0], [0.1, 0.1, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6]):
            shown = [row.score for row in ranked(runtime, question, PASSAGES, scores).ranking]
            assert shown == sorted(shown, reverse=True)


def test_it_is_the_probability_of_context_relevance(runtime):
    for question in QUESTIONS:
        documents = [{"title": title, "text": text} for title, text in PASSAGES]
        judged = run(context_relevance([{"role": "user", "content": question}], documents), runtime).judgements
        assert by_place(ranked(runtime, question, PASSAGES)) == pytest.approx([j.score for j in judged], abs=1e-6)


def test_order_of_the_candidates_leaves_no_trace(runtime):
    order = list(range(len(PASSAGES)))
    for question in QUESTIONS:
        straight = by_place(ranked(runtime, question, PASSAGES))
        random.Random(question).shuffle(order)
        assert by_place(ranked(runtime, question, [PASSAGES[i] for i in order])) == [straight[i] for i in order]


def test_words_take_part(runtime):
    passages = [(None, f"Error code {code} means {what}.") for code, what in
                (("E1207", "low pressure"), ("E4431", "low voltage"), ("E9002", "no water"))]  # fmt: skip
    assert ranked(runtime, "What is E4431?", passages).ranking[0].index == 1


def test_a_retriever_that_puts_the_answer_last_does_not_rule(runtime):
    question, wanted = "When was the Cape Orlo lighthouse built?", 1
    worst = [float(i != wanted) * (20.0 - i) for i in range(len(PASSAGES))]
    moved = ranked(runtime, question, PASSAGES, worst, prior="higher")
    assert moved.ranking[0].index == wanted
    assert moved.ranking[0].score < ranked(runtime, question, PASSAGES).ranking[0].score


@pytest.mark.parametrize("count", [0, 1, 2, 33])
def test_any_number_of_candidates(runtime, count):
    found = ranked(runtime, "Who painted the ships?", [PASSAGES[i % 8] for i in range(count)])
    assert sorted(row.index for row in found.ranking) == list(range(count))
    assert all(0 < row.score < 1 for row in found.ranking)
