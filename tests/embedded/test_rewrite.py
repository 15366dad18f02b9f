"""A question is made to stand alone by words of its conversation, or it stays; keywords and expansions of it.

What becomes of single questions is a rate: the kinds `follow_ups`, `readings` and `fragments` of `benchmarks/cases`.
"""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from intrinsics_core import query_expansion, query_rewrite, run
from intrinsics_core.embedded.heads import load_head
from intrinsics_core.embedded.rewrite.keywords import (
    FEEDBACK_TERMS,
    HISTORY_WEIGHT,
    TERMS,
    expand,
    feedback_terms,
    rewrite,
)
from intrinsics_core.embedded.rewrite.readings import LONGEST, MOST, readings
from intrinsics_core.embedded.rewrite.salience import (
    LONGEST_TURN,
    QUESTION_FEATURES,
    TERM_FEATURES,
    dependence,
    salience,
)
from intrinsics_core.embedded.rewrite.standing_alone import OPTIONS, as_read, choice
from intrinsics_core.embedded.turns import Turn
from intrinsics_core.embedded.words import terms
from tests.drawing import drawn

CHEESE: list[Turn] = [
    ("user", "How is Brindle Fell cheese made?"),
    ("assistant", "Brindle Fell cheese is washed in cider and aged for ten weeks. Goat milk gives it a sharp taste."),
]
STORED: list[Turn] = [*CHEESE, ("user", "How long can it be stored?")]
PASSAGES = [
    "Brindle Fell cheese keeps for three months in a cool larder if stored in waxed paper.",
    "Waxed paper lets a stored cheese breathe; a larder is better than a refrigerator.",
    "Trains to the coast leave every hour.",
]
DIALOG = st.lists(st.tuples(st.sampled_from(["user", "assistant", "system"]), st.text(max_size=200)), max_size=6)


def messages(turns: list[Turn]) -> list[dict[str, str]]:
    return [{"role": role, "content": text} for role, text in turns]


@settings(max_examples=drawn(200))
@given(DIALOG, st.text(max_size=200))
def test_readings_hold_words_of_the_conversation_alone(history: list[Turn], last: str) -> None:
    said = {term for _, text in [*history, ("user", last)] for term in terms(text, stopwords=True)}
    for each in readings([*history, ("user", last)]):
        assert set(terms(each.text, stopwords=True)) <= said | {"in", "the"}
        assert len(each.text) <= 2 * LONGEST


def test_nothing_is_read_into_a_long_question_nor_a_first_one() -> None:
    assert readings([*CHEESE, ("user", "it " * LONGEST)]) == [] == readings(STORED[-1:])
    assert choice(STORED[-1:]).pairs == () == choice([*CHEESE, ("user", "Thanks a lot!")]).pairs
    assert choice([*CHEESE, ("user", "What is the capital of Norway?")]).pairs == ()


def test_a_reading_is_taken_where_it_is_likely_enough() -> None:
    found = choice(STORED)
    rows = found.options([3.0, *[0.0] * (len(found.asked) - 1)])  # to the reader it stands alone
    assert {len(row) for row in rows} == {len(OPTIONS)} and len(found.pairs) == len(found.asked) <= MOST + 1
    shares = [0.4, 0.6, *[0.0] * (len(rows) - 2)]
    assert [found.taken(rows, shares, least) for least in (0.5, 0.7)] == [1, 0]
    assert found.taken(rows, [0.6, 0.4, *shares[2:]], 0.3) == 0


def test_a_reader_is_shown_the_end_of_the_conversation() -> None:
    assert as_read(STORED, 8).endswith("/ How long can it be stored?")
    assert len(as_read(STORED, 8).split()) == 8


@pytest.mark.parametrize(
    "question", ["What is the capital of Norway?", "How is Brindle Fell cheese made from goat milk and cider?"]
)
def test_a_question_that_stands_alone_stays(question: str) -> None:
    found = run(query_rewrite(messages([*CHEESE, ("user", question)])))
    assert (found.query, found.changed) == (question, False)


@pytest.mark.parametrize(
    ("turns", "wrong"),
    [
        (("How many orders in May?", "Twelve.", "And in June?"), "May"),
        (("When is the pool open?", "The pool opens at 7.", "Is it heated?"), "opens"),
    ],
)
def test_a_rewrite_is_a_question_or_what_was_asked(turns: tuple[str, ...], wrong: str) -> None:
    said = [(("user", "assistant")[i % 2], text) for i, text in enumerate(turns)]
    assert wrong not in run(query_rewrite(messages(said))).query


def test_a_result_says_what_it_was() -> None:
    found = run(query_rewrite(messages(STORED)))
    assert found.original == "How long can it be stored?" and found.changed == (found.query != found.original)
    assert found.retrieval_query.startswith(found.query) and len(found.retrieval_query) > len(found.query)
    assert run(query_rewrite(messages(STORED))) == found


@settings(max_examples=drawn(200))
@given(st.text())
def test_a_single_turn_is_left_alone(text: str) -> None:
    found = rewrite([("user", text)])
    assert found.query == found.original == found.retrieval_query == text


@settings(max_examples=drawn(300))
@given(DIALOG, st.text(max_size=200))
def test_any_conversation_can_be_rewritten(history: list[Turn], last: str) -> None:
    before = list(history)
    found = rewrite([*history, ("user", last)])
    assert history == before
    assert found.original == last
    assert 0.0 <= dependence([*history, ("user", last)]) <= 1.0
    assert found == rewrite([*history, ("user", last)])


WORDS = "it they she this what about how is the of Brindle cheese goats Norway rennet cost made and . ? , 1998 東京 é"
CHATTER = st.lists(st.sampled_from(WORDS.split()), max_size=12).map(" ".join)


@settings(max_examples=drawn(300))
@given(st.lists(st.tuples(st.sampled_from(["user", "assistant"]), CHATTER), max_size=5), CHATTER)
def test_the_retrieval_form_loses_no_content_word_and_invents_none(history: list[Turn], last: str) -> None:
    found = rewrite([*history, ("user", last)])
    assert set(terms(last)) <= set(terms(found.retrieval_query))
    said = {term for _, text in history for term in terms(text, stopwords=True)}
    assert set(terms(found.query)) <= said | set(terms(last))


def test_history_terms_weigh_less_than_the_question() -> None:
    found = rewrite(STORED)
    weights = dict(found.terms)
    assert weights["store"] == 1.0
    added = {term: weight for term, weight in weights.items() if term not in ("long", "store")}
    assert 0 < len(added) <= TERMS
    assert "brindl" in added
    assert all(0.0 < weight <= HISTORY_WEIGHT for weight in added.values())
    assert [weight for _, weight in found.terms] == sorted(weights.values(), reverse=True)


def test_the_retrieval_form_repeats_the_question_not_the_history() -> None:
    found = rewrite(STORED)
    assert terms(found.retrieval_query).count("store") == terms(found.query).count("store") + 1
    assert terms(found.retrieval_query).count("brindl") == terms(found.query).count("brindl")


@pytest.mark.parametrize("made", [rewrite, choice, readings])
@pytest.mark.parametrize("conversation", [[], [("assistant", "Hello")], [("user", "Hi"), ("assistant", "Hello")]])
def test_the_last_turn_must_be_the_users(made, conversation: list[Turn]) -> None:
    with pytest.raises(ValueError, match="last turn of the conversation must have role"):
        made(conversation)


def test_another_roles_turns_are_passed_over() -> None:
    assert rewrite([("system", "You know about Zanzibar."), *STORED]) == rewrite(STORED)


def test_what_was_chosen_is_the_question() -> None:
    meant = "How long can cider be stored?"
    found = rewrite(STORED, meant)
    assert found.question == meant and found.query.startswith(meant)
    alone = rewrite(STORED, STORED[-1][1])
    assert alone.question == alone.original == "How long can it be stored?"


def test_turns_that_are_cut_are_counted() -> None:
    long = "word " * (LONGEST_TURN // 5 + 1)
    found = run(query_rewrite(messages([("user", "Who?"), ("assistant", long), ("user", "Why did he?")])))
    assert found.cut == 1
    assert run(query_rewrite(messages([*CHEESE, ("user", long)]))).query == long


def test_dependence_follows_the_pointers() -> None:
    complete_one = dependence([*CHEESE, ("user", "How is Brindle Fell cheese made from goat milk?")])
    assert dependence(STORED) > 0.5 > complete_one
    assert dependence(STORED[-1:]) == 0.0


def test_salience_prefers_the_topic() -> None:
    likely = salience(STORED)
    assert likely["brindl"] > likely["week"]
    assert all(0.0 <= value <= 1.0 for value in likely.values())
    assert "store" not in likely


def test_heads_have_the_features_that_are_measured() -> None:
    assert load_head("rewrite").features == load_head("rewrite_terms").features == TERM_FEATURES
    assert load_head("rewrite_dependence").features == QUESTION_FEATURES


def test_expansions_are_named_in_order() -> None:
    found = expand(rewrite(STORED), STORED, PASSAGES)
    assert [strategy for _, strategy in found] == ["original", "rewrite", "keywords", "pseudo-relevance"]
    by_name = {strategy: text for text, strategy in found}
    assert by_name["original"] == "How long can it be stored?"
    assert by_name["rewrite"] == rewrite(STORED).query
    assert by_name["keywords"].startswith("long stored")
    assert "Brindle Fell cheese" in by_name["keywords"]
    assert by_name["pseudo-relevance"].startswith(by_name["keywords"])
    assert "waxed paper" in by_name["pseudo-relevance"].casefold()
    told = run(query_expansion(messages(STORED), PASSAGES)).queries
    assert [each.strategy for each in told] == [strategy for _, strategy in found]


def test_feedback_is_what_the_matching_passages_share() -> None:
    found = feedback_terms("store Brindle Fell cheese", PASSAGES)
    assert {"wax", "paper", "larder"} <= set(found)
    assert not {"train", "coast", "chees", "store"} & set(found)
    assert len(found) <= FEEDBACK_TERMS
    assert feedback_terms("quantum chromodynamics", PASSAGES) == []


def test_a_query_equal_but_for_case_and_spacing_is_left_out() -> None:
    assert expand(rewrite([("user", "Goat  cheese?")]), [("user", "Goat  cheese?")]) == [("Goat  cheese?", "original")]


@settings(max_examples=drawn(200))
@given(
    st.lists(st.tuples(st.sampled_from(["user", "assistant"]), st.text(max_size=80)), max_size=4),
    st.text(max_size=80),
    st.lists(st.text(max_size=120), max_size=4),
)
@example([], "𠀀'0", [])  # the apostrophe after a CJK character was once a part of the word
def test_any_text_expands(history: list[Turn], last: str, passages: list[str]) -> None:
    turns = [*history, ("user", last)]
    found = expand(rewrite(turns), turns, passages)
    assert found[0] == (last, "original")
    texts = [" ".join(text.casefold().split()) for text, _ in found]
    assert len(set(texts)) == len(texts)
    assert all(texts[1:])
    said = {term for text in (last, *passages, *(text for _, text in history)) for term in terms(text, stopwords=True)}
    assert {term for text, _ in found for term in terms(text)} <= said
