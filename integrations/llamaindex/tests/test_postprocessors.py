"""Node postprocessors in LlamaIndex's own hands."""

from __future__ import annotations

import asyncio

import pytest
from llama_index.core import VectorStoreIndex
from llama_index.core.callbacks import CallbackManager, CBEventType, LlamaDebugHandler
from llama_index.core.llms import MockLLM
from llama_index.core.schema import MetadataMode, QueryBundle
from llama_index.embeddings.rag_intrinsics import IntrinsicsEmbedding
from llama_index.postprocessor.rag_intrinsics import ContextRelevancePostprocessor, IntrinsicsRerank

from integrations.llamaindex.tests.llms import QUESTION, WHEN, JudgeLLM, Traced, nodes, texts
from intrinsics_core import InvalidInput


def test_a_query_engine_reranks_and_filters() -> None:
    index = VectorStoreIndex(texts(), embed_model=IntrinsicsEmbedding())
    engine = index.as_query_engine(
        llm=MockLLM(), similarity_top_k=3, node_postprocessors=[ContextRelevancePostprocessor(), IntrinsicsRerank()]
    )
    for response in (engine.query(WHEN), asyncio.run(engine.aquery(WHEN))):
        best = response.source_nodes[0]
        assert best.node_id == "mill"
        assert best.metadata["context_relevance"] == "relevant" and best.metadata["reranking_rank"] == 1
        assert best.score == best.metadata["reranking_score"]
        # The retriever's cosine, not the filter's score.
        assert best.metadata["retrieval_score"] != best.metadata["context_relevance_score"]
        assert 0 < best.metadata["retrieval_score"] < 1
    # The index's own nodes know nothing of it.
    assert all("reranking_rank" not in node.metadata for node in index.docstore.docs.values())


def test_what_an_llm_and_an_embedding_read_is_what_it_was() -> None:
    before = {n.node_id: [n.node.get_content(mode) for mode in MetadataMode] for n in nodes()}
    for item in IntrinsicsRerank().postprocess_nodes(nodes(), query_str=QUESTION):
        shown = dict(zip(MetadataMode, (item.node.get_content(mode) for mode in MetadataMode), strict=True))
        was = dict(zip(MetadataMode, before[item.node_id], strict=True))
        for mode in (MetadataMode.LLM, MetadataMode.EMBED, MetadataMode.NONE):
            assert shown[mode] == was[mode]


def test_exclusions_of_the_caller_are_kept_and_not_written_into() -> None:
    given = nodes()
    given[1].node.excluded_llm_metadata_keys = ["page"]
    (best, *_) = IntrinsicsRerank().postprocess_nodes(given, query_str=QUESTION)
    ours = ["retrieval_score", "reranking_rank", "reranking_score", "reranking_prior", "judged_for"]
    assert best.node.excluded_llm_metadata_keys == ["page", *ours]
    assert given[1].node.excluded_llm_metadata_keys == ["page"]
    again = IntrinsicsRerank().postprocess_nodes([best], query_str=QUESTION)
    assert again[0].node.excluded_llm_metadata_keys == ["page", *ours]
    assert again[0].metadata["retrieval_score"] == pytest.approx(0.8)  # still the retriever's


def test_top_n_and_cutoff() -> None:
    everything = IntrinsicsRerank().postprocess_nodes(nodes(), query_str=QUESTION)
    assert IntrinsicsRerank(top_n=0).postprocess_nodes(nodes(), query_str=QUESTION) == []
    two = IntrinsicsRerank(top_n=2).postprocess_nodes(nodes(), query_str=QUESTION)
    assert [n.node_id for n in two] == [n.node_id for n in everything][:2]
    with pytest.raises(ValueError, match="top_n"):
        IntrinsicsRerank(top_n=-1)
    kept = ContextRelevancePostprocessor(similarity_cutoff=0.999).postprocess_nodes(nodes(), query_str=QUESTION)
    assert kept == []
    every = ContextRelevancePostprocessor(labels=("relevant", "partially relevant", "irrelevant"))
    assert len(every.postprocess_nodes(nodes(), query_str=QUESTION)) == 3


@pytest.mark.parametrize("asynchronous", [False, True])
def test_no_query_is_an_error_that_says_so(asynchronous: bool) -> None:
    rerank = IntrinsicsRerank()
    with pytest.raises(InvalidInput, match="query_str= or query_bundle= is missing"):
        asyncio.run(rerank.apostprocess_nodes(nodes())) if asynchronous else rerank.postprocess_nodes(nodes())


@pytest.mark.parametrize("asynchronous", [False, True])
def test_events_and_spans_with_the_llm_inside(asynchronous: bool) -> None:
    llm = JudgeLLM(reply=lambda messages, options: {"preferred": "B", "confidence": 0.9})
    rerank, query = IntrinsicsRerank(runtime=llm, top_n=2, mode="pairwise"), QueryBundle(QUESTION)
    given = nodes()
    with Traced() as traced:
        if asynchronous:
            found = asyncio.run(rerank.apostprocess_nodes(given, query))
        else:
            found = rerank.postprocess_nodes(given, query)
    names = traced.events.names()
    assert names[0] == "ReRankStartEvent" and names[-1] == "ReRankEndEvent"
    start, end = traced.events.seen[0], traced.events.seen[-1]
    assert (start.top_n, start.model_name, start.query.query_str) == (2, "IntrinsicsRerank", QUESTION)
    assert [n.node_id for n in start.nodes] == ["cranes", "mill", "fog"]
    assert end.nodes == found
    assert names.count("LLMChatStartEvent") == names.count("LLMChatEndEvent") == 3
    own = "IntrinsicsRerank._apostprocess_nodes" if asynchronous else "IntrinsicsRerank._postprocess_nodes"
    chat = "JudgeLLM.achat" if asynchronous else "JudgeLLM.chat"
    assert traced.parents()[own] is None
    assert traced.parents()[chat] == own


def test_the_older_callbacks_see_a_reranking() -> None:
    debug = LlamaDebugHandler(print_trace_on_end=False)
    rerank = IntrinsicsRerank(callback_manager=CallbackManager([debug]))
    rerank.postprocess_nodes(nodes(), query_str=QUESTION)
    ((start, end),) = debug.get_event_pairs(CBEventType.RERANKING)
    assert start.payload is not None and end.payload is not None
    assert end.payload["nodes"][0].node_id == "mill"
