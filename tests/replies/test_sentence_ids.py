"""From sentence ids to results with exact offsets."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intrinsics_core.protocol.task import Document, Message, Task
from intrinsics_core.replies import sentence_ids
from tests.drawing import drawn
from tests.pieces import TEXTS


def task(response, texts):
    messages = (Message("user", "q"), Message("assistant", response))
    return Task("citations", messages, tuple(Document(t, id=f"d{i}") for i, t in enumerate(texts)))


IDS = st.one_of(st.integers(-3, 60), st.none(), st.booleans(), st.text(max_size=3), st.floats())


@settings(max_examples=drawn(400))
@given(TEXTS, st.lists(TEXTS, max_size=4), st.lists(st.tuples(IDS, IDS), max_size=30))
def test_citations_quote_their_sources(response, texts, links):
    given_task = task(response, texts)
    result = sentence_ids.citations(given_task, links)
    documents = {d.id: d.text for d in given_task.documents}
    for c in result.citations:
        assert response[c.response_begin : c.response_end] == c.response_text
        assert documents[c.document_id][c.document_begin : c.document_end] == c.document_text
    numbers = sum(len(s) for s in given_task.document_sentences)
    usable = {
        (r, c)
        for r, c in links
        if type(r) is int and type(c) is int and 0 <= r < len(given_task.response_sentences) and 0 <= c < numbers
    }
    assert result.dropped == len(links) - len(usable)
    assert len(result.citations) <= len(usable)
    assert bool(result.citations) == bool(usable)


@settings(max_examples=drawn(400))
@given(TEXTS, st.lists(IDS, max_size=20))
def test_every_sentence_has_one_verdict(response, numbers):
    given_task = task(response, ["x"])
    result = sentence_ids.hallucination(given_task, [(n, ("faithful", None, None)) for n in numbers])
    assert [response[s.begin : s.end] for s in result.sentences] == [s.text for s in result.sentences]
    assert [(s.begin, s.end, s.text) for s in result.sentences] == list(given_task.response_sentences)
    known = {n for n in numbers if type(n) is int and 0 <= n < len(result.sentences)}
    assert [i for i, s in enumerate(result.sentences) if s.label == "faithful"] == sorted(known)
    assert result.dropped == len(numbers) - len(known)


def test_adjacent_sentences_are_one_citation():
    given_task = task("One. Two.", ["Ada built it.\n\n Bea drew it.  Eve flew it.", "Guy ran."])
    result = sentence_ids.citations(given_task, [(0, 1), (0, 0), (1, 2), (1, 3), (0, 99), (0, 0), (True, 1)])
    assert [(c.response_text, c.document_id, c.document_text) for c in result.citations] == [
        ("One.", "d0", "Ada built it.\n\n Bea drew it."),
        ("Two.", "d0", "Eve flew it."),
        ("Two.", "d1", "Guy ran."),
    ]
    assert result.dropped == 3


def test_a_response_is_as_true_as_its_weakest_claim():
    result = sentence_ids.hallucination(
        task("One. Two. Three.", ["x"]),
        [(0, ("faithful", None, "said so")), (1, ("unfaithful", 0.2, None)), (1, ("faithful", 1.0, None))],
    )
    assert [s.label for s in result.sentences] == ["faithful", "unfaithful", "NA"]
    assert (result.label, result.score, result.dropped) == ("unfaithful", 0.2, 1)
    assert result.sentences[2].score is None


@pytest.mark.parametrize("response", ["", "   "])
def test_nothing_said_is_nothing_claimed(response):
    result = sentence_ids.hallucination(task(response, ["x"]), [])
    assert (result.label, result.score, result.sentences) == ("NA", None, ())
