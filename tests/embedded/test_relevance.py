"""Context relevance, answerability and answer relevance: sense on real text, thresholds, odd input, the head files."""

import json
import random
from importlib import resources

import numpy as np
import pytest

from intrinsics_core import answerability as gate
from intrinsics_core import as_runtime, context_relevance, run
from intrinsics_core.embedded.heads import LinearHead
from intrinsics_core.embedded.relevance import (
    FEATURES,
    best_cosine,
    features,
    label_of,
    passage_score,
    shipped_head,
    to_read,
)
from intrinsics_core.protocol.errors import InvalidInput

PASSAGES = [
    "The lighthouse at Cape Orlo was built in 1871 after three ships were lost on the reef. Its lamp burned whale oil.",
    "Mooring in the inner harbour costs twelve crowns a night; outer berths are free in winter.",
    "The ferry to the island leaves every two hours and does not run in storms.",
    "Ida Velin painted the storm of 1868 from memory. The canvas hangs in the town museum.",
]
ANSWERABLE = [
    "When was the lighthouse at Cape Orlo built?",
    "What does mooring in the inner harbour cost?",
    "How often does the ferry leave for the island?",
    "Who painted the storm of 1868?",
]
UNANSWERABLE = [
    "What is the capital of Mongolia?",
    "How do I configure TLS certificates in the load balancer?",
    "Which enzyme unwinds DNA during replication?",
    "Who won the football cup final in 1996?",
]


@pytest.fixture(scope="module", params=[None, False], ids=["reader", "encoder alone"])
def runtime(request):
    with as_runtime({"kind": "embedded", "reader": request.param}) as shared:
        yield shared


def asked(question):
    return [{"role": "user", "content": question}]


def judge(runtime, question, passages=PASSAGES):
    return run(gate(asked(question), passages), runtime)


def test_what_is_answered_passes_and_what_is_off_topic_does_not(runtime):
    found, other = ([judge(runtime, q) for q in some] for some in (ANSWERABLE, UNANSWERABLE))
    assert all(each.answerable for each in found) and not any(each.answerable for each in other)
    assert min(each.probability for each in found) > max(each.probability for each in other) + 0.3


def test_labels_follow_the_score(runtime):
    limits = shipped_head("relevance", reads=runtime.has_reader).thresholds
    rows = [row for q in [*ANSWERABLE, *UNANSWERABLE]
            for row in run(context_relevance(asked(q), PASSAGES), runtime).judgements]  # fmt: skip
    assert [row.label for row in rows] == [label_of(row.score, limits["relevant"], limits["partial"]) for row in rows]
    assert {"relevant", "irrelevant"} <= {row.label for row in rows}


def test_thresholds_are_the_callers():
    assert label_of(0.5, 0.5, 0.0) == "relevant"
    assert label_of(0.4, 0.5, 0.4) == "partially relevant"
    assert label_of(0.3, 1.0, 1.0) == "irrelevant"
    with pytest.raises(InvalidInput, match="partial"):
        label_of(0.5, 0.2, 0.6)
    strict, open_ = ({"kind": "embedded", "thresholds": {"answerability": {"answerable": at}}} for at in (1.0, 0.0))
    assert not judge(strict, ANSWERABLE[0]).answerable
    assert judge(open_, UNANSWERABLE[0]).answerable


def test_order_of_the_passages_leaves_no_trace(runtime):
    shuffled = random.Random(3).sample(PASSAGES, len(PASSAGES))
    for question in (ANSWERABLE[0], UNANSWERABLE[0]):
        assert judge(runtime, question) == judge(runtime, question, shuffled)


def test_a_name_that_is_missing_lowers_the_score(encoder):
    rows, head = encoder.encode([PASSAGES[0]])[0], shipped_head("relevance")
    here, elsewhere = (
        passage_score(f"When was the lighthouse at Cape {name} built?", PASSAGES[0], rows, rows, head)
        for name in ("Orlo", "Zubrin")
    )
    assert here > elsewhere


def test_features_by_hand():
    row = np.eye(2, dtype=np.float32)
    assert FEATURES == ("cosine", "sentence_coverage")
    assert features("Did Orlo not burn?", "Orlo burned.", row[:1], row) == (1.0, 1.0)
    assert features("Did Orlo burn?", "Hello there.", row[:1], row[1:]) == (0.0, 0.0)
    assert best_cosine(row[:1], row[:0]) == 0.0


def test_what_is_read_is_the_window_with_most_of_the_question_behind_its_title():
    filler = "Nothing of interest was said there by anybody, and so the minutes of that day were soon put away. " * 12
    shown = to_read("What does mooring cost?", f"{filler}Mooring costs twelve crowns. {filler}", "Harbour")
    assert shown.startswith("Harbour: ") and "twelve crowns" in shown and len(shown.split()) <= 182
    assert to_read("What does mooring cost?", "One word", None) == "One word"
    assert to_read("", "", None) == ""


def test_a_reader_moves_the_score(encoder):
    question, passage = ANSWERABLE[0], PASSAGES[0]
    (q, p), head = encoder.encode([question, passage]), shipped_head("answerability", reads=True)
    no, unknown, yes = (passage_score(question, passage, q, p, head, logit) for logit in (-6.0, 0.0, 6.0))
    assert no < unknown < yes
    assert passage_score(question, passage, q, p, head) == 0.0  # nothing of it was read


def test_nothing_to_go_by(runtime):
    assert judge(runtime, "Who built the pier?", []).probability == 0.0
    assert judge(runtime, "Who built the pier?", ["", " \n"]).probability == 0.0


def test_odd_texts(runtime):
    odd = ["🎉🎉", "猫は窓のそばで眠っている。", "word " * 4000, "<c0> [SEP] \r\n\r\n- list\n- list"]
    for question in ("🎉", "猫はどこで眠っていますか", "Who, when and where?", "x" * 5000):
        rows = run(context_relevance(asked(question), odd), runtime).judgements
        assert all(0 <= row.score <= 1 for row in rows)


HARBOUR = {"title": "Harbour Hotel", "text": "The hotel has 110 rooms and a rooftop bar. Breakfast is included."}


def test_a_turn_that_asks_nothing_passes():
    found = run(gate(asked("Thank you!"), [HARBOUR]))
    assert (found.label, found.probability) == ("answerable", None) and "asks nothing" in found.reason


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
    raw = json.loads((resources.files("intrinsics_core") / f"data/heads/{name}.json").read_text("utf-8"))
    assert raw["name"] == name
    assert {entry["set"] for entry in raw["trained_on"]} == sets
    assert all(entry["licence"] and entry["rows"] for entry in raw["trained_on"])
    for set_, floor in floors.items():
        assert raw["validation"][set_]["five folds"]["weighted_f1"] > floor


def test_a_head_of_other_features_is_refused():
    raw = {"features": ["cosine"], "weights": [1.0], "bias": 0, "thresholds": {}}
    with pytest.raises(InvalidInput, match="head was fitted on other features"):
        LinearHead.from_json(json.dumps(raw), FEATURES)
