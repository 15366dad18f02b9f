"""Where sentences begin, told from end marks and line breaks alone."""

from __future__ import annotations

from itertools import pairwise

import pytest

from intrinsics_core.text.stops import starts


def cut(text: str, *, names: bool = False) -> list[str]:
    at = [*starts(text, names=names), len(text)]
    return [text[begin:end] for begin, end in pairwise(at)]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("It is red. It is old.", ["It is red. ", "It is old."]),
        ('She said "No." And left.', ['She said "No." ', "And left."]),
        ("  Open it.\n  Close it", ["Open it.\n  ", "Close it"]),
        ("水位很高。门关着。", ["水位很高。", "门关着。", ""]),
        ("It costs 2.50 euros", ["It costs 2.50 euros"]),
        ("Gary Ablett Sr.'s legacy lives.", ["Gary Ablett Sr.'s legacy lives."]),
    ],
)
def test_sentences_begin_after_stops_and_on_new_lines(text: str, sentences: list[str]) -> None:
    assert cut(text) == sentences


def test_initials_and_short_titles_end_a_sentence_unless_names_are_asked_for() -> None:
    asked = "Thanks. When did Mr. Thomas A. Hendricks resign?"
    assert cut(asked)[-1] == "Hendricks resign?"
    assert cut(asked, names=True) == ["Thanks. ", "When did Mr. Thomas A. Hendricks resign?"]


def test_a_blank_text_begins_where_it_ends() -> None:
    assert starts("") == [0]
    assert starts("  ") == [2]
