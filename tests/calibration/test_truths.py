"""One vocabulary of labels."""

from __future__ import annotations

from typing import Any

import pytest

from intrinsics_core import InvalidInput, answerability, calibrate, run
from intrinsics_core.calibration.truths import truth

SOURCES = {
    "ticket": "A day ticket costs 9 euros.",
    "museum": "The museum opens at nine.",
    "mill": "Ada built the mill.",
}
ASKED = {"ticket": "How much is a day ticket?", "museum": "When does the museum open?", "mill": "Who built a mill?"}


@pytest.mark.parametrize(
    ("value", "intrinsic", "expected"),
    [
        (True, "answerability", True),
        (0, "answerability", False),
        ("No", "fact-check", False),
        ("Unanswerable", "answerability", False),
        ("partially relevant", "context-relevance", True),
        ({"label": "faithful", "score": 0.9}, "hallucination-detection", True),
        ({"label": False}, "citations", False),
        ({"certainty": 0.85}, "uncertainty", True),
        ({"certainty": 0.15}, "uncertainty", False),
    ],
)
def test_a_label_is_read(value: Any, intrinsic: str, expected: bool) -> None:
    assert truth(value, intrinsic) is expected


@pytest.mark.parametrize(
    "value", ["perhaps", 2, 0.5, None, {"score": 0.9}, "faithful", {"certainty": 15}, {"certainty": True}]
)
def test_what_is_no_label_is_named(value: Any) -> None:
    with pytest.raises(InvalidInput, match="label is not a known label; expected true, false or one of answerable"):
        truth(value, "answerability")


@pytest.mark.parametrize("kind", ["words", "results"])
def test_calibrate_takes_words_and_results_as_it_takes_booleans(kind: str) -> None:
    def example(topic: str, about: str, label: Any) -> dict[str, Any]:
        return {"messages": [{"role": "user", "content": ASKED[topic]}], "documents": [SOURCES[about]], "label": label}

    def label(answers: bool) -> Any:
        word = "answerable" if answers else "unanswerable"
        return {"label": word, "probability": None} if kind == "results" else word

    pairs = [(topic, about) for topic in SOURCES for about in SOURCES] * 2
    plain = calibrate("answerability", [example(t, a, t == a) for t, a in pairs])
    assert calibrate("answerability", [example(t, a, label(t == a)) for t, a in pairs]) == plain
    verdict = run(answerability([{"role": "user", "content": ASKED["mill"]}], [SOURCES["mill"]]))
    assert truth(verdict, "answerability") is True
