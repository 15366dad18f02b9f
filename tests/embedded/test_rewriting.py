"""The rewrite resolves what it safely can, keeps the user's words, and leaves standalone questions alone."""

from __future__ import annotations

import gzip
import json
import os
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from intrinsics_core.embedded.query.chooser import choice
from intrinsics_core.embedded.query.readings import readings
from intrinsics_core.embedded.query.rewriting import HISTORY_WEIGHT, TERMS, rewrite
from intrinsics_core.embedded.query.salience import (
    QUESTION_FEATURES,
    TERM_FEATURES,
    Turn,
    dependence,
    question_features,
    salience,
    term_features,
)

from intrinsics_core.embedded.heads import load_head
from intrinsics_core.embedded.words import terms
from tests.drawing import drawn

CHEESE: list[Turn] = [
    ("user", "How is Brindle Fell cheese made?"),
    ("assistant", "Brindle Fell cheese is washed in cider and aged for ten weeks. Goat milk gives it a sharp taste."),
]


def sure(conversation: list[Turn]) -> str:
    """What the rules make of the last turn."""
    return next((reading.text for reading in readings(conversation) if reading.rule), conversation[-1][1])


def leans(conversation: list[Turn]) -> bool:
    """Whether a reader may choose."""
    return len(choice(conversation).asked) > 1


DIALOG = st.lists(st.tuples(st.sampled_from(["user", "assistant", "system"]), st.text(max_size=200)), max_size=6)


@pytest.mark.parametrize(
    ("conversation", "expected"),
    [
        ([*CHEESE, ("user", "How long can it be stored?")], "How long can Brindle Fell cheese be stored?"),
        ([*CHEESE, ("user", "What is its price?")], "What is Brindle Fell cheese's price?"),
        (
            [("user", "Tell me about Ada Quill."), ("assistant", "Ada Quill was a bridge engineer."),
             ("user", "Where did she study?")],
            "Where did Ada Quill study?",
        ),
        (
            [("user", "Who discovered the electron?"), ("assistant", "Thomson did."),
             ("user", "What about the proton?")],
            "Who discovered the proton?",
        ),
        (
            [("user", "What is the climate like in Utah?"), ("assistant", "Dry."), ("user", "And how about Nevada?")],
            "What is the climate like in Nevada?",
        ),
        (
            [("user", "What is the climate like in Utah?"), ("assistant", "Dry."), ("user", "What about in Nevada?")],
            "What is the climate like in Nevada?",
        ),
    ],
)  # fmt: skip
def test_question_is_resolved(conversation: list[Turn], expected: str) -> None:
    found = rewrite(conversation)
    assert found.question == expected
    assert found.query.startswith(expected)
    assert found.changed


@pytest.mark.parametrize(
    "question",
    [
        "Is it possible to buy some?",  # "it" without meaning
        "How long does it take to get there?",
        "What is rennet and how is it used?",  # points inside the question
        "Is it true that goats climb trees?",
    ],
)
def test_a_pronoun_that_points_elsewhere_stays(question: str) -> None:
    assert sure([*CHEESE, ("user", question)]) == question


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What are the main ingredients?", "What are the main ingredients of Brindle Fell cheese?"),
        ("What are the steps in the dairy?", "What are the steps in the dairy?"),
        ("What is the DOP?", "What is the DOP?"),
        ("Where are the goats?", "Where are the goats?"),
    ],
)
def test_a_missing_of_what_is_added(question: str, expected: str) -> None:
    assert sure([*CHEESE, ("user", question)]) == expected


def test_an_article_comes_along() -> None:
    conversation: list[Turn] = [
        ("user", "What is the Marram Light?"),
        ("assistant", "A lighthouse."),
        ("user", "Is it open?"),
    ]
    assert sure(conversation) == "Is the Marram Light open?"


def test_a_person_is_never_a_cheese() -> None:
    conversation: list[Turn] = [("user", "how is cheese made?"), ("assistant", "from milk"), ("user", "Did he eat it?")]
    assert "cheese eat" not in sure(conversation)


@pytest.mark.parametrize(
    "question",
    [
        "What is the capital of Norway?",  # a new topic, named
        "How is Brindle Fell cheese made from goat milk and cider in ten weeks?",
    ],
)
def test_a_standalone_question_is_left_alone(question: str) -> None:
    found = rewrite([*CHEESE, ("user", question)])
    assert (found.query, found.question, found.retrieval_query) == (question,) * 3
    assert not found.changed


@settings(max_examples=drawn(200))
@given(st.text())
def test_a_single_turn_is_left_alone(text: str) -> None:
    found = rewrite([("user", text)])
    assert found.query == found.original == found.retrieval_query == text
    assert not found.changed
    assert rewrite([("user", found.query)]) == found


@settings(max_examples=drawn(300))
@given(DIALOG, st.text(max_size=200))
def test_any_conversation_can_be_rewritten(history: list[Turn], last: str) -> None:
    before = list(history)
    found = rewrite([*history, ("user", last)], threshold=0.0)
    assert history == before
    assert found.original == last
    assert found.changed == (found.query != last)
    assert 0.0 <= found.dependence <= 1.0
    assert found == rewrite([*history, ("user", last)], threshold=0.0)


WORDS = "it they she this what about how is the of Brindle cheese goats Norway rennet cost made and . ? , 1998 東京 é"
CHATTER = st.lists(st.sampled_from(WORDS.split()), max_size=12).map(" ".join)


@settings(max_examples=drawn(300))
@given(st.lists(st.tuples(st.sampled_from(["user", "assistant"]), CHATTER), max_size=5), CHATTER)
def test_no_content_word_of_the_question_is_lost(history: list[Turn], last: str) -> None:
    found = rewrite([*history, ("user", last)], threshold=0.0)
    assert set(terms(last)) <= set(terms(found.query)) <= set(terms(found.retrieval_query))
    said = {term for _, text in history for term in terms(text, stopwords=True)}
    assert set(terms(found.query)) <= said | set(terms(last)), "a word was invented"


def test_history_terms_weigh_less_than_the_question() -> None:
    found = rewrite([*CHEESE, ("user", "How long can it be stored?")])
    weights = dict(found.terms)
    assert weights["store"] == 1.0
    added = {term: weight for term, weight in weights.items() if term not in ("long", "store")}
    assert 0 < len(added) <= TERMS
    assert "brindl" in added
    assert all(0.0 < weight <= HISTORY_WEIGHT for weight in added.values())
    assert [weight for _, weight in found.terms] == sorted(weights.values(), reverse=True)


def test_keywords_can_be_left_out() -> None:
    conversation: list[Turn] = [*CHEESE, ("user", "How long can it be stored?")]
    assert rewrite(conversation, keywords=0).query == "How long can Brindle Fell cheese be stored?"
    assert rewrite(conversation, threshold=1.1).query == "How long can it be stored?"


def test_the_retrieval_form_repeats_the_question_not_the_history() -> None:
    found = rewrite([*CHEESE, ("user", "How long can it be stored?")])
    assert terms(found.retrieval_query).count("store") == terms(found.query).count("store") + 1
    assert terms(found.retrieval_query).count("brindl") == terms(found.query).count("brindl")


@pytest.mark.parametrize("conversation", [[], [("assistant", "Hello")], [("user", "Hi"), ("assistant", "Hello")]])
def test_the_last_turn_must_be_the_users(conversation: list[Turn]) -> None:
    with pytest.raises(ValueError, match="last turn of the conversation must have role"):
        rewrite(conversation)


def test_another_roles_turns_are_passed_over() -> None:
    question: Turn = ("user", "How long can it be stored?")
    plain = rewrite([*CHEESE, question])
    assert rewrite([("system", "You know about Zanzibar."), *CHEESE, question]) == plain


@pytest.mark.parametrize("earlier", ["Is it treatable?", "Compare mumps with the measles?", "Hm.", "mumps " * 30])
def test_what_about_needs_a_question_of_the_same_form(earlier: str) -> None:
    conversation: list[Turn] = [("user", earlier), ("assistant", "Yes."), ("user", "What about croup?")]
    assert sure(conversation) == "What about croup?"


def test_dependence_follows_the_pointers() -> None:
    pointing = dependence([*CHEESE, ("user", "How long can it be stored?")])
    complete_one = dependence([*CHEESE, ("user", "How is Brindle Fell cheese made from goat milk?")])
    assert pointing > 0.5 > complete_one
    assert dependence([("user", "How long can it be stored?")]) == 0.0


def test_salience_prefers_the_topic() -> None:
    likely = salience([*CHEESE, ("user", "How long can it be stored?")])
    assert likely["brindl"] > likely["week"]
    assert all(0.0 <= value <= 1.0 for value in likely.values())
    assert "store" not in likely


def test_features_have_their_names_lengths() -> None:
    conversation: list[Turn] = [*CHEESE, ("user", "How long can it be stored?")]
    assert {len(row) for row in term_features(conversation).values()} == {len(TERM_FEATURES)}
    assert len(question_features(conversation)) == len(QUESTION_FEATURES)
    assert load_head("rewrite").features == load_head("rewrite_terms").features == TERM_FEATURES
    assert load_head("rewrite_dependence").features == QUESTION_FEATURES


@pytest.mark.skipif("RAG_INTRINSICS_DATA" not in os.environ, reason="RAG_INTRINSICS_DATA names no data folder")
def test_the_question_is_nearer_to_peoples_rewrites_than_the_last_turn() -> None:
    def f1(text: str, reference: str) -> float:
        a, b = Counter(terms(text, stopwords=True)), Counter(terms(reference, stopwords=True))
        return 2 * (a & b).total() / max(1, a.total() + b.total())

    path = Path(os.environ["RAG_INTRINSICS_DATA"]) / "qr_cast_ikat.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = [row for row in map(json.loads, lines) if row["source"].startswith("cast") and row["history"]]
    gain = 0.0
    for row in rows:
        history: list[Turn] = [(turn["role"], turn["content"]) for turn in row["history"]]
        found = rewrite([*history, ("user", row["question"])])
        gain += f1(found.question, row["rewrite"]) - f1(found.original, row["rewrite"])
    assert gain / len(rows) > 0.03


@pytest.mark.parametrize(
    ("said", "asked", "question"),
    [
        ("Ada Brink built the ferry of Brinmouth.", "When did she build it?", "When did Ada Brink build it?"),
        (
            "The Brinmouth ferry is a car ferry run by Tern Lines.",
            "How much does it cost?",
            "How much does the Brinmouth ferry cost?",
        ),
        ("The Brinmouth ferry is run by Tern Lines.", "What about bicycles?", "What about bicycles?"),
        ("The Brinmouth ferry is a car ferry.", "Who built it?", "Who built the Brinmouth ferry?"),
        ("The Brinmouth ferry is run by Tern Lines.", "Thanks a lot!", "Thanks a lot!"),
    ],
)
def test_reads_as_a_person_would_say_it(said, asked, question):
    conversation = [("user", "What is the Brinmouth ferry?"), ("assistant", said), ("user", asked)]
    assert rewrite(conversation).question == question


def test_what_a_reader_chose_is_the_question():
    conversation = [*CHEESE, ("user", "How long can it be stored?")]
    meant = "How long can cider be stored?"
    found = rewrite(conversation, meant=meant)
    assert found.question == meant and found.changed and found.query.startswith(meant)
    alone = rewrite(conversation, meant=conversation[-1][1])
    assert alone.question == alone.original == "How long can it be stored?"


def test_a_reading_after_the_assistant_s_turns_alone():
    conversation = [("assistant", "Ada Brink built the tide mill."), ("user", "When did she build it?")]
    assert rewrite(conversation, meant="When did Ada Brink build it?").question == "When did Ada Brink build it?"


def test_a_chosen_reading_keeps_the_keywords_of_the_question_before():
    conversation = [
        ("user", "How was the Ouse mill at Ellery restored after the 1953 flood?"),
        ("assistant", "Volunteers rebuilt its wheel."),
        ("user", "When did it reopen?"),
    ]
    found = rewrite(conversation, meant="When did the Ouse mill reopen?")
    assert "1953 flood" in found.query and found.question == "When did the Ouse mill reopen?"


def test_what_stands_alone_leans_on_nothing():
    assert leans([*CHEESE, ("user", "How long can it be stored?")])
    for ellipsis in ("and for four", "How about Neptune?", "And Kumasi?"):
        assert leans([*CHEESE, ("user", ellipsis)])
    for whole in (
        "What is the capital of Norway?",
        "法国的首都是哪里？",
        "So how tall is Mount Kilimanjaro in Tanzania?",
    ):
        assert not leans([*CHEESE, ("user", whole)])
    assert not leans([*CHEESE, ("user", "Thanks a lot!")])
    assert not leans([("user", "How long can it be stored?")])
    assert not leans([("system", "Be brief."), ("user", "How long can it be stored?")])
