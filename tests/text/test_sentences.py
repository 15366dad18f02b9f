"""Sentences as NLTK's untrained Punkt splits them."""

from hypothesis import example, given, settings
from hypothesis import strategies as st

from intrinsics_core.text.sentences import punkt
from tests.drawing import drawn
from tests.pieces import PIECES, TEXTS


@settings(max_examples=drawn(400))
@given(TEXTS)
@example("")
@example(" \r\n ")
def test_offsets_are_exact_and_nothing_is_lost(text):
    spans = punkt(text)
    end = 0
    for span in spans:
        assert text[span.begin : span.end] == span.text
        assert span.begin >= end
        assert not text[end : span.begin].strip()
        assert span.text.strip()
        end = span.end
    assert not text[end:].strip()


# fmt: off
HARD = [
    *PIECES, "ab ", "Ab. ", "A. ", "3. ", "the ", "The. ", "x! ", "Mr. ", "vs. ", "e.g. ", "ok?) ", '"No." ', "(Yes.) ",
    "… ", " . ", "! ", "?", ", ", "; ", "- ", " ", "\n",
]
# fmt: on


@settings(max_examples=drawn(1500))
@given(st.lists(st.sampled_from(HARD), max_size=30).map("".join))
def test_the_short_cut_changes_no_decision(text):
    from nltk.tokenize.punkt import PunktSentenceTokenizer

    assert [(s.begin, s.end) for s in punkt(text)] == list(PunktSentenceTokenizer().span_tokenize(text))


def test_untrained_punkt():
    assert [s.text for s in punkt("It was built by Dr. A. Moreau. He left.")] == [
        "It was built by Dr.",
        "A. Moreau.",
        "He left.",
    ]
