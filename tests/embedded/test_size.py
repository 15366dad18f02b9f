"""Documents of any size: read in blocks, cut where that was asked for and told, given up between batches."""

from __future__ import annotations

import asyncio
import re
import threading

import numpy as np
import pytest

from intrinsics_core import (
    InvalidInput,
    answerability,
    arun,
    citations,
    context_relevance,
    hallucination_detection,
    query_expansion,
    query_rewrite,
    reranking,
    run,
    uncertainty,
)
from intrinsics_core.embedded import evidence, sources, words
from intrinsics_core.embedded.models import bi_encoder as encoders
from intrinsics_core.embedded.models import onnx_model
from intrinsics_core.embedded.models.bi_encoder import BiEncoder
from intrinsics_core.embedded.runtime import EmbeddedRuntime
from intrinsics_core.text.sentences import _punkt, punkt

QUESTION = [{"role": "user", "content": "Who built the tide mill?"}]
PROSE = "The mill stood by the river. Ada Brink built it in 1911, and it ground flour until the war came. "


@pytest.mark.parametrize("count", [3_000, pytest.param(300_000, marks=pytest.mark.slow)])
def test_sentences_of_texts_that_took_longer_than_the_splitters_own_limit(count):
    # NLTK gives up after five seconds with a raw TimeoutError, which the larger number takes on any machine.
    assert len(punkt("Word. " * 3 * count)) == 3 * count
    assert len(punkt("e.g. " * count)) == count


def test_the_splitter_has_no_limit_of_its_own():
    language = _punkt()._lang_vars  # NLTK's own patterns are of a library that counts seconds
    assert type(language.re_boundary_realignment) is type(language.period_context_re()) is re.Pattern


def test_the_blocks_of_a_long_text_make_the_vectors_of_the_whole(monkeypatch):
    text = PROSE * 30
    with BiEncoder(cache_size=0) as encoder:
        (whole,) = encoder.encode([text])
        monkeypatch.setattr(encoders, "_BLOCK", 500)
        (parts, *_) = encoder.encode([text, "a mill", PROSE])
        np.testing.assert_allclose(parts, whole, atol=1e-6)


def test_no_more_tokens_are_read_than_asked_for_and_the_result_says_so():
    runtime = EmbeddedRuntime(max_document_tokens=40)
    documents = [PROSE * 3, "Fog is common in May."]
    for call in (answerability(QUESTION, documents), reranking(QUESTION, documents)):
        result = run(call, runtime)
        assert 20 < result.unread < 60
        assert result.model_dump()["unread"] == result.unread
    cited = run(citations([*QUESTION, {"role": "assistant", "content": "Ada Brink built it."}], documents), runtime)
    assert cited.unread > 0
    whole = run(answerability(QUESTION, documents), EmbeddedRuntime())
    assert whole.unread == 0
    assert "unread" not in whole.model_dump()


def test_what_is_cut_does_not_depend_on_what_was_read_before():
    documents = [PROSE * 3, PROSE * 2]
    fresh, used = EmbeddedRuntime(max_document_tokens=60), EmbeddedRuntime(max_document_tokens=60)
    for document in documents:
        run(answerability(QUESTION, [document]), used)
    assert run(reranking(QUESTION, documents), used) == run(reranking(QUESTION, documents), fresh)


def test_an_earlier_turn_that_is_read_in_part_is_told():
    history = [{"role": "user", "content": PROSE * 1_100}, {"role": "assistant", "content": "Ada Brink did."}]
    asked = [*history, {"role": "user", "content": "When did she build it?"}]
    documents = ["Ada Brink built the tide mill in 1911."]
    for function in (query_rewrite, query_expansion):
        result = run(function(asked))
        assert result.cut == 1 and result.model_dump()["cut"] == 1
    for function in (answerability, reranking, context_relevance, uncertainty):
        assert run(function(asked, documents)).cut == 1
        assert run(function(asked[1:], documents)).cut == 0
    assert run(answerability(asked, [])).cut == 0  # nothing was read
    answered = [*asked, {"role": "assistant", "content": "In 1911."}]
    for function in (citations, hallucination_detection):  # the question is made to stand alone, as for the gate
        assert run(function(answered, documents)).cut == 1
    long = [*history, {"role": "user", "content": PROSE * 1_100}]
    assert run(query_rewrite(long)).cut == 2  # a text and no question: it is left as it is
    assert "cut" not in run(query_rewrite(asked[1:])).model_dump()


def test_the_words_of_an_earlier_turn_are_made_a_few_times_however_many_they_are(monkeypatch):
    made, real = 0, words._word

    def counted(*args):
        nonlocal made
        made += 1
        return real(*args)

    def steps(sentences):
        nonlocal made
        made = 0
        history = [{"role": "user", "content": PROSE * sentences}, {"role": "assistant", "content": "Ada Brink did."}]
        run(query_rewrite([*history, {"role": "user", "content": "When did she build it?"}]), runtime)
        return made

    runtime = EmbeddedRuntime()
    monkeypatch.setattr(words, "_word", counted)
    few = 1 + 20_000 // len(PROSE)  # a turn that is longer than what is remembered
    few, many = steps(few), steps(10 * few)
    assert few > 0
    assert many <= 10 * few


@pytest.mark.parametrize("wrong", [0, -1, 1.5, "many"])
def test_a_bound_that_is_none_is_named(wrong):
    with pytest.raises(InvalidInput, match="max_document_tokens"):
        EmbeddedRuntime(max_document_tokens=wrong)


def test_a_copy_keeps_the_bound():
    import pickle

    assert pickle.loads(pickle.dumps(EmbeddedRuntime(max_document_tokens=7))).max_document_tokens == 7  # noqa: S301


async def test_given_up_work_stops_between_batches(monkeypatch):
    runtime = EmbeddedRuntime(threads=1, cache_size=0)
    runtime.warm_up()
    monkeypatch.setattr(onnx_model, "_STEP", 1)
    batches, first = 0, threading.Event()
    real = encoders.VectorSession.run

    def counted(self, *args):
        nonlocal batches
        batches += 1
        if batches > 3:
            first.set()
        return real(self, *args)

    monkeypatch.setattr(encoders.VectorSession, "run", counted)
    task = asyncio.create_task(arun(answerability(QUESTION, [PROSE * 4_000]), runtime))
    await asyncio.to_thread(first.wait, 60)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    seen = batches
    await asyncio.to_thread(lambda: None)
    for _ in range(200):  # the thread ends at its next look: the batch under way is the last
        await asyncio.sleep(0.005)
    assert batches <= seen + 2


def test_many_sources_are_measured_as_few_are(monkeypatch):
    rng = np.random.default_rng(0)
    texts = [f"Sentence number {i} about mill {i % 7} and river {i % 5}." for i in range(50)]
    vectors = []
    for i in range(50):
        rows = rng.normal(size=(1 + i % 3, 8)).astype(np.float32)
        vectors.append(rows / np.linalg.norm(rows, axis=1, keepdims=True))
    documents = [i // 9 for i in range(50)]
    (whole,) = evidence.look_up(texts[3:4], vectors[3:4], sources.Sources(texts, vectors, documents))
    monkeypatch.setattr(sources, "_BLOCK", 7)
    (parts,) = evidence.look_up(texts[3:4], vectors[3:4], sources.Sources(texts, vectors, documents))
    np.testing.assert_allclose(parts.features, whole.features, atol=1e-6)
    np.testing.assert_allclose(parts.cosine, whole.cosine, atol=1e-6)
