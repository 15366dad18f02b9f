"""The reranker and the relevance filter."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langchain_core.documents import BaseDocumentCompressor
from langchain_core.runnables import Runnable, RunnableLambda, RunnablePassthrough
from langchain_rag_intrinsics import ContextRelevanceFilter, IntrinsicsReranker

from integrations.langchain.tests.scripts import QUESTION, documents, judging
from integrations.langchain.tests.test_chat_model import Spans
from intrinsics_core import IntrinsicsError
from intrinsics_core.protocol.results import ContextRelevance, Ranking


@pytest.mark.parametrize("kind", [IntrinsicsReranker, ContextRelevanceFilter])
def test_compressor_and_runnable_are_one(kind: type) -> None:
    component = kind(runtime=judging())
    assert isinstance(component, BaseDocumentCompressor)
    assert isinstance(component, Runnable)
    given = documents()
    found = component.compress_documents(given, QUESTION)
    assert found == component.invoke({"query": QUESTION, "documents": given})
    assert found == asyncio.run(component.acompress_documents(given, QUESTION))
    assert found[0].id == "mill"
    assert component.compress_documents([], QUESTION) == []


@pytest.mark.parametrize("kind", [IntrinsicsReranker, ContextRelevanceFilter])
@pytest.mark.parametrize("asynchronous", [False, True])
def test_compressing_traces_inside_what_calls_it(kind: type, asynchronous: bool) -> None:
    spans, component = Spans(), kind(runtime=judging())
    if asynchronous:
        asyncio.run(component.acompress_documents(documents(), QUESTION, callbacks=[spans]))
    else:
        component.compress_documents(documents(), QUESTION, callbacks=[spans])
    assert [root.name for root in spans.roots] == [kind.__name__]
    assert spans.roots[0].inputs["query"] == QUESTION


def test_reranker_limits() -> None:
    given = {"query": QUESTION, "documents": documents()}
    ranked = IntrinsicsReranker(runtime=judging()).invoke(given)
    assert [d.metadata["reranking_rank"] for d in ranked] == [1, 2, 3]
    assert [d.metadata["relevance_score"] for d in ranked] == [1.0, 0.5, 0.0]
    assert IntrinsicsReranker(runtime=judging(), top_n=2).invoke(given) == ranked[:2]
    assert IntrinsicsReranker(runtime=judging(), top_n=0).invoke(given) == []
    everyone = {"mode": "pointwise", "runtime": judging()}
    best = IntrinsicsReranker(**everyone).invoke(given)[0]
    floor = best.metadata["relevance_score"]
    assert IntrinsicsReranker(**everyone, score_threshold=floor).invoke(given) == [best]
    with pytest.raises(ValueError, match="top_n"):
        IntrinsicsReranker(top_n=-1)


@pytest.mark.parametrize(("how", "calls"), [({}, 1), ({"mode": "pairwise"}, 3), ({"mode": "pointwise"}, 3)])
def test_how_a_model_ranks_is_a_choice(how: dict[str, Any], calls: int) -> None:
    runtime = judging()
    found = IntrinsicsReranker(runtime=runtime, **how).invoke({"query": QUESTION, "documents": documents()})
    assert len(runtime.requests) == calls and found[0].id == "mill"


def test_filter_limits() -> None:
    given = {"query": QUESTION, "documents": documents()}
    every = ("relevant", "partially relevant", "irrelevant")
    kept = ContextRelevanceFilter(runtime=judging(), labels=every).invoke(given)
    assert [d.id for d in kept] == ["cranes", "mill", "fog"]
    labels = {d.id: d.metadata["context_relevance"] for d in kept}
    assert labels == {"cranes": "irrelevant", "mill": "relevant", "fog": "irrelevant"}
    strict = ContextRelevanceFilter(
        runtime=judging(), labels=every, score_threshold=kept[1].metadata["relevance_score"]
    )
    assert [d.id for d in strict.invoke(given)] == ["mill"]


def test_verdicts_add_up() -> None:
    both = IntrinsicsReranker(runtime=judging()) | RunnableLambda(lambda found: {"query": QUESTION, "documents": found})
    found = (both | ContextRelevanceFilter(runtime=judging())).invoke({"query": QUESTION, "documents": documents()})
    assert {"reranking_rank", "context_relevance", "relevance_score"} <= set(found[0].metadata)
    assert found[0].metadata["page"] == 7


def test_whole_results() -> None:
    given = {"query": QUESTION, "documents": documents()}
    reranker = IntrinsicsReranker(runtime=judging(), return_result=True)
    assert isinstance(reranker.invoke(given), Ranking)
    assert reranker.compress_documents(documents(), QUESTION)[0].id == "mill"  # a compressor returns documents
    keep = ContextRelevanceFilter(runtime=judging(), return_result=True)
    assert isinstance(keep.invoke(given), ContextRelevance)
    assert keep.invoke({"query": QUESTION, "documents": []}).judgements == ()


def test_in_a_chain_and_in_batches() -> None:
    chain = RunnablePassthrough.assign(documents=IntrinsicsReranker(runtime=judging(), top_n=1))
    inputs = [
        {"question": QUESTION, "documents": documents()},
        {"question": "Is there fog in May?", "documents": documents()},
    ]
    assert [out["documents"][0].id for out in chain.batch(inputs)] == ["mill", "fog"]
    assert [out["documents"][0].id for out in asyncio.run(chain.abatch(inputs))] == ["mill", "fog"]


def test_a_bad_row_costs_no_other_in_a_batch() -> None:
    reranker = IntrinsicsReranker(runtime=judging())
    good = {"question": QUESTION, "documents": documents()}
    found = reranker.batch([good, {"documents": []}, good], return_exceptions=True)
    assert isinstance(found[1], IntrinsicsError)
    assert found[0] == found[2]
