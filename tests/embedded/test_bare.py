"""What is shown of an answer that says little without its question."""

import pytest

from intrinsics_core.embedded.short_answers import (
    contrary,
    in_context,
    leads,
    led,
    weighed,
)

ASKED = "How often are the logs rotated?"


@pytest.mark.parametrize(
    ("answer", "question", "shown"),
    [
        ("Every day.", ASKED, f"{ASKED} Every day."),
        ("Every day.", f" {ASKED}\n", f"{ASKED} Every day."),
        ("Every day.", " \n", "Every day."),
        ("Every day.", "Look at this log: " + "x y " * 100, "Every day."),  # no room for it
        (
            "The logs are rotated every day at noon, and kept for a week.",
            ASKED,
            "The logs are rotated every day at noon, and kept for a week.",
        ),
        ("Ja!", "Is it open?", "Is it open? Yes."),
        ("No.", "", "No."),
    ],
)
def test_a_short_answer_is_read_behind_its_question(answer, question, shown):
    assert in_context(answer, question) == shown


def test_an_answer_of_any_length_is_read_behind_its_question_beside_the_whole_of_its_sources():
    answer = "The logs are rotated every day at noon, and kept for a week."
    assert in_context(answer, ASKED, whole=True) == f"{ASKED} {answer}"
    assert in_context(answer * 5, ASKED, whole=True) == answer * 5  # no room for both
    assert in_context(answer, "", whole=True) == answer


def test_yes_and_no_are_weighed_against_each_other_and_a_no_is_a_doubt_unless_it_is_sure():
    assert contrary("Yes!") == "No." and contrary("nein") == "Yes." and contrary("Both.") is None
    assert weighed("Yes.", 4.0, 0.0) > 0 > weighed("Yes.", 0.0, 0.0)
    assert weighed("No.", 4.0, 0.0) > weighed("No.", 0.9, -4.0) == 0.0 > weighed("No.", -4.0, 0.0)


def test_a_yes_in_front_of_other_words_is_weighed_too():
    assert leads("No, that is too late.", "Is it open?") == "No." and leads("Yes, of course.", "May I?") == "Yes."
    for answer, question in (("No.", "Is it open?"), ("No idea.", "Is it open?"), ("No, at six.", "When is it open?")):
        assert leads(answer, question) is None
    assert led(3.0, 1.0, 0.0) == led(3.0, 0.0, 2.0) == 3.0 > 0.0 > led(3.0, -2.0, 1.0)
