"""Context relevance and answerability: sense on real text, thresholds, odd input, the head file."""

import json
import random
from dataclasses import replace

import numpy as np
import pytest

from intrinsics_core import answerability as gate
from intrinsics_core import context_relevance as relevance
from intrinsics_core import query_rewrite, run
from intrinsics_core.embedded.scoring.answering import (
    FEATURES,
    answerability,
    asked_of,
    best_two,
    context_relevance,
    features,
    is_unknown,
    lacks_a_side,
    of_both,
    passage_score,
    shipped_head,
    to_read,
)
from intrinsics_core.embedded.scoring.head import LinearHead
from intrinsics_core.protocol.errors import InvalidInput

PASSAGES = [
    "The lighthouse at Cape Orlo was built in 1871 after three ships were lost on the reef. Its lamp burned whale oil.",
    "Mooring in the inner harbour costs twelve crowns a night; outer berths are free in winter.",
    "The ferry to the island leaves every two hours and does not run in storms.",
    "Ida Velin painted the storm of 1868 from memory. The canvas hangs in the town museum.",
]
ANSWERABLE = {
    "When was the lighthouse at Cape Orlo built?": 0,
    "What does mooring in the inner harbour cost?": 1,
    "How often does the ferry leave for the island?": 2,
    "Who painted the storm of 1868?": 3,
}
UNANSWERABLE = [
    "What is the capital of Mongolia?",
    "How do I configure TLS certificates in the load balancer?",
    "Which enzyme unwinds DNA during replication?",
    "Who won the football cup final in 1996?",
]


def judge(encoder, question, passages=PASSAGES, **more):
    return answerability(question, passages, encoder.encode([question])[0], encoder.encode(passages), **more)


def test_answerable_from_the_right_passage(encoder):
    for question, wanted in ANSWERABLE.items():
        found = judge(encoder, question)
        assert (found.answerable, found.best) == (True, wanted), question
        assert found.probability > 0.5


def test_off_topic_is_unanswerable(encoder):
    for question in UNANSWERABLE:
        found = judge(encoder, question)
        assert not found.answerable, question
        assert found.probability < 0.3


def test_every_answerable_outscores_every_unanswerable(encoder):
    low = min(judge(encoder, q).probability for q in ANSWERABLE)
    assert low > max(judge(encoder, q).probability for q in UNANSWERABLE) + 0.3


def test_labels_follow_the_score(encoder):
    seen = set()
    for question in [*ANSWERABLE, *UNANSWERABLE]:
        for passage in PASSAGES:
            q, p = encoder.encode([question, passage])
            found = context_relevance(question, passage, q, p)
            limits = shipped_head("answerability").thresholds
            expected = (
                "relevant"
                if found.score >= limits["relevant"]
                else "partially relevant"
                if found.score >= limits["partial"]
                else "irrelevant"
            )
            assert found.label == expected
            seen.add(found.label)
            assert found.score == passage_score(question, passage, q, p)
    assert {"relevant", "irrelevant"} <= seen


def test_thresholds_are_arguments(encoder):
    question = next(iter(ANSWERABLE))
    q, p = encoder.encode([question, PASSAGES[2]])
    score = passage_score(question, PASSAGES[2], q, p)
    assert context_relevance(question, PASSAGES[2], q, p, relevant=score, partial=0).label == "relevant"
    above = context_relevance(question, PASSAGES[2], q, p, relevant=min(1.0, score + 0.01), partial=score)
    assert above.label == "partially relevant"
    assert context_relevance(question, PASSAGES[2], q, p, relevant=1, partial=1).label == "irrelevant"
    assert context_relevance(question, PASSAGES[2], q, p, relevant=0).label == "relevant"
    assert not judge(encoder, question, threshold=1.0).answerable
    assert judge(encoder, UNANSWERABLE[0], threshold=0.0).answerable
    for bad in (-0.1, 1.1, float("nan")):
        with pytest.raises(InvalidInput, match="threshold"):
            judge(encoder, question, threshold=bad)
    with pytest.raises(InvalidInput, match="partial"):
        context_relevance(question, PASSAGES[0], q, p, relevant=0.2, partial=0.6)


def test_order_of_the_passages_leaves_no_trace(encoder):
    shuffled = PASSAGES[:]
    random.Random(3).shuffle(shuffled)
    for question in [*ANSWERABLE, *UNANSWERABLE]:
        a, b = judge(encoder, question), judge(encoder, question, shuffled)
        assert (a.answerable, a.probability) == (b.answerable, b.probability)
        assert PASSAGES[a.best] == shuffled[b.best]


def test_a_name_that_is_missing_lowers_the_score(encoder):
    passage = PASSAGES[0]
    rows = encoder.encode([passage])[0]
    here = passage_score("When was the lighthouse at Cape Orlo built?", passage, rows, rows)
    elsewhere = passage_score("When was the lighthouse at Cape Zubrin built?", passage, rows, rows)
    assert here > elsewhere


def test_features_by_hand():
    row = np.eye(2, dtype=np.float32)
    values = dict(zip(FEATURES, features("Did Orlo not burn?", "Orlo burned.", row[:1], row), strict=True))
    assert values == {"cosine": 1.0, "sentence_coverage": 1.0}
    values = dict(zip(FEATURES, features("Did Orlo burn?", "Hello there.", row[:1], row[1:]), strict=True))
    assert values["cosine"] == values["sentence_coverage"] == 0.0


def test_what_is_read_is_the_window_with_most_of_the_question_behind_its_title():
    filler = "Nothing of interest was said there by anybody, and so the minutes of that day were soon put away. " * 12
    text = f"{filler}Mooring costs twelve crowns. {filler}"
    shown = to_read("What does mooring cost?", text, "Harbour")
    assert shown.startswith("Harbour: ") and "twelve crowns" in shown and len(shown.split()) <= 182
    assert to_read("What does mooring cost?", "One word", None) == "One word"
    table = "Mooring\n| Boat | Night |\n|---|---|\n| Yacht | 30 euros |\n| Dinghy | 9 euros |"
    assert (
        to_read("What does mooring cost?", table)
        == "Mooring Boat: Yacht; Night: 30 euros. Boat: Dinghy; Night: 9 euros."
    )
    assert to_read("", "", None) == ""


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("Who built the mill, and when?", ["Who built the mill?"]),
        ("When does it open and what does a ticket cost?", ["When does it open?", "What does a ticket cost?"]),
        ("What is salt and pepper?", []),
        ("Who and why", []),
        ("", []),
    ],
)
def test_a_question_that_joins_two_is_asked_by_its_parts_too(question, asked):
    assert asked_of(question) == (question, *asked)


def test_two_questions_at_once_are_answerable_where_both_are_answered():
    question = [{"role": "user", "content": "Who built the tide mill, and when?"}]
    both, none = "The tide mill was built in 1911 by Ada Brink.", "The tide mill stands on the east quay."
    assert [run(gate(question, [text])).answerable for text in (both, none)] == [True, False]


def test_a_reader_moves_the_score_and_only_where_there_is_one(encoder):
    question, passage = next(iter(ANSWERABLE)), PASSAGES[0]
    q, p = encoder.encode([question, passage])
    no, unknown, yes = (passage_score(question, passage, q, p, logit=logit) for logit in (-6.0, 0.0, 6.0))
    assert no < unknown < yes
    assert judge(encoder, question, logits=[6.0, -6.0, -6.0, -6.0]).best == 0


def test_nothing_to_go_by(encoder):
    found = answerability("Who?", [], encoder.encode(["Who?"])[0], [])
    assert (found.answerable, found.probability, found.best) == (False, 0.0, None)
    assert judge(encoder, "", PASSAGES).probability == 0.0
    assert judge(encoder, "Who?", ["", " \n"]).probability == 0.0


def test_odd_texts(encoder):
    odd = ["🎉🎉", "猫は窓のそばで眠っている。", "word " * 4000, "<c0> [SEP] \r\n\r\n- list\n- list"]
    for question in ("🎉", "猫はどこで眠っていますか", "Who, when and where?", "x" * 5000):
        found = judge(encoder, question, odd)
        assert 0 <= found.probability <= 1
    assert judge(encoder, "猫はどこで眠っていますか", odd).best == 1


def test_vectors_must_match_the_passages(encoder):
    rows = encoder.encode(["x"])[0]
    with pytest.raises(InvalidInput, match="passage_vectors"):
        answerability("q", ["a", "b"], rows, [rows])


@pytest.mark.parametrize(
    ("name", "sets", "floors"),
    [
        ("answering", {"squad2_dev_b", "clapnq_dev"}, {"squad2_dev_b": 0.6, "clapnq_dev": 0.75}),
        ("relevance_read", {"squad2_dev_b", "clapnq_dev"}, {"squad2_dev_b": 0.6, "clapnq_dev": 0.8}),
        (
            "answerability_read",
            {"squad2_dev_b", "clapnq_dev", "written", "written_hard"},
            {"squad2_dev_b": 0.55, "clapnq_dev": 0.75, "written": 0.7, "written_hard": 0.7},
        ),
    ],
)
def test_a_shipped_head_tells_its_sources(name: str, sets: set[str], floors: dict[str, float]):
    from importlib import resources

    raw = json.loads((resources.files("intrinsics_core") / f"data/heads/{name}.json").read_text("utf-8"))
    assert raw["name"] == name
    assert {entry["set"] for entry in raw["trained_on"]} == sets
    assert all(entry["licence"] and entry["rows"] for entry in raw["trained_on"])
    for set_, floor in floors.items():
        assert raw["validation"][set_]["five folds"]["weighted_f1"] > floor


HARBOUR = "The Harbour Hotel has 40 rooms. A double room costs 120 euros a night, breakfast included."
GARDEN = "The Garden Hotel is a ten-minute walk from the station. A double room is 95 euros a night."
LIGHT = "The lighthouse was built in 1911 and is open on Sundays."


@pytest.mark.parametrize("documents", [[HARBOUR, GARDEN], [GARDEN, LIGHT, HARBOUR]])
def test_a_comparison_is_answerable_from_two_passages_together(documents: list[str]):
    question = [{"role": "user", "content": "Which is cheaper, the Harbour Hotel or the Garden Hotel?"}]
    found = run(gate(question, documents))
    assert found.label == "answerable" and not found.unsure
    assert (found.probability or 0) > 0.25 + max(run(gate(question, [d])).probability or 0 for d in documents)


def test_a_comparison_of_which_one_half_is_missing_is_doubted():
    question = [{"role": "user", "content": "Which is cheaper, the Harbour Hotel or the Garden Hotel?"}]
    whole, half = (run(gate(question, documents)) for documents in ([HARBOUR, GARDEN], [HARBOUR, LIGHT]))
    assert whole.label == "answerable" and not whole.unsure and half.label == "unanswerable"
    assert whole.probability > half.probability + 0.2


def test_a_comparison_of_what_neither_passage_tells_is_doubted():
    pool = [{"role": "user", "content": "Which has the better pool, the Harbour Hotel or the Garden Hotel?"}]
    found = run(gate(pool, [HARBOUR, GARDEN]))
    assert found.unsure or found.label == "unanswerable"


def test_a_side_of_a_comparison_that_no_passage_names_is_missed():
    question = "Which is cheaper, the Harbour Hotel or the Garden Hotel?"
    assert lacks_a_side(question, [HARBOUR, LIGHT]) and not lacks_a_side(question, [HARBOUR, GARDEN])
    assert lacks_a_side("Is Rome older than Ödön?", ["Rome was founded in 753 BC."])
    assert not lacks_a_side("Who built the Garden Hotel?", [HARBOUR])  # it compares nothing
    assert not lacks_a_side("Is tea or coffee better?", [HARBOUR]) and not lacks_a_side("Or?", [])


def test_two_passages_together_count_half():
    assert of_both(2.0, -1.0, -3.0) == 0.5
    assert of_both(None, 1.0, 2.0) is None and of_both(2.0) == 2.0


@pytest.mark.parametrize("documents", [["", HARBOUR, GARDEN], [HARBOUR, " ", GARDEN, ""], [GARDEN, GARDEN, HARBOUR]])
def test_blank_and_repeated_passages_leave_a_comparison_as_it_is(documents: list[str]):
    question = [{"role": "user", "content": "Which is cheaper, the Harbour Hotel or the Garden Hotel?"}]
    found = run(gate(question, documents))
    assert found.label == "answerable"
    assert found.probability == pytest.approx(run(gate(question, [HARBOUR, GARDEN])).probability, abs=0.05)


def test_a_question_that_does_not_compare_is_asked_of_each_passage_alone():
    older = "Is the mill older than the church?"
    assert best_two("Who built the mill?", ["a", "b"], [2.0, 1.0]) == []
    assert best_two(older, ["a"], [2.0]) == []
    assert best_two(older, ["", "b", "c"], [None, -1.0, -3.0]) == [1, 2]
    assert best_two(older, ["b", "b", "c"], [2.0, 2.0, 1.0]) == [0, 2]
    assert best_two(older, ["b", "b"], [2.0, 2.0]) == []


def test_a_head_of_other_features_is_refused():
    raw = {"features": ["cosine"], "weights": [1.0], "bias": 0, "thresholds": {}}
    with pytest.raises(InvalidInput, match="head was fitted on other features"):
        LinearHead.from_json(json.dumps(raw), FEATURES)


def test_own_head_is_used(encoder):
    sure = replace(shipped_head("relevance"), weights=(0.0,) * len(FEATURES), bias=10.0)
    assert judge(encoder, UNANSWERABLE[0], head=sure).probability > 0.99


@pytest.mark.parametrize("question", ["xyzzy plugh qwfp", "Who is Blorfinax?"])
def test_words_that_nobody_knows_are_answered_by_no_passage(question: str) -> None:
    passages = ["The tide mill was built in 1911.", "Fog is common in May."]
    assert run(gate([{"role": "user", "content": question}], passages)).label == "unanswerable"
    assert not is_unknown("Who built the mill?", passages) and is_unknown(question, passages)


@pytest.mark.parametrize(
    "turn",
    ["Hello", "Thanks! That's all for now.", "Can you repeat that?", "Please answer in German.", "Shorter please"],
)
def test_a_turn_that_asks_nothing_passes(turn):
    found = run(gate([{"role": "user", "content": turn}], [HARBOUR]))
    assert (found.label, found.probability) == ("answerable", None) and "asks nothing" in found.reason


@pytest.mark.parametrize(
    "turn",
    [
        "Thanks, and what does a zeppelin cost?", "What did the king say?", "Explain zeppelins.", "Longer in summer?",
        "Explain this in the contract.", "Nice today?",
    ],
)  # fmt: skip
def test_a_turn_that_asks_is_judged(turn):
    found = run(gate([{"role": "user", "content": turn}], [HARBOUR]))
    assert found.label == "unanswerable" and found.probability is not None


def test_an_offer_that_is_accepted_is_what_is_asked():
    offer = "Ada Brink built it in 1911. Shall I look up the opening hours?"
    turns = [("user", "Tell me about the tide mill."), ("assistant", offer), ("user", "Yes please")]
    messages = [{"role": role, "content": text} for role, text in turns]
    hours, fog = ({"text": "The tide mill has opening hours from 10 am to 5 pm."}, {"text": "Fog is common in May."})
    found = run(relevance(messages, [hours, fog]))
    assert [row.label == "irrelevant" for row in found.judgements] == [False, True]
    assert run(query_rewrite(messages)).query == "Shall I look up the opening hours?"
