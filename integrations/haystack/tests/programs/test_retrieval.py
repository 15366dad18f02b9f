"""What people do around a retriever. Each is a program as a user writes it; the number is the item that it belongs to.

Classes that came with a program are imported in it, so that the others also run on an older release.
"""

from __future__ import annotations

from typing import Any

import pytest
from haystack import Document, Pipeline
from haystack.components.builders import ChatPromptBuilder
from haystack.components.generators.chat import MockChatGenerator
from haystack.components.joiners import DocumentJoiner
from haystack.components.rankers import LLMRanker
from haystack.components.retrievers import TextEmbeddingRetriever
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever, InMemoryEmbeddingRetriever
from haystack.components.writers import DocumentWriter
from haystack.dataclasses import ChatMessage
from haystack.document_stores.in_memory import InMemoryDocumentStore
from haystack.utils import Secret
from haystack_integrations.components.query.rag_intrinsics import RagIntrinsicsQueryRewriter
from haystack_integrations.components.rankers.rag_intrinsics import (
    RagIntrinsicsContextRelevanceFilter,
    RagIntrinsicsRanker,
)
from haystack_integrations.components.routers.rag_intrinsics import RagIntrinsicsAnswerabilityRouter
from haystack_integrations.components.validators.rag_intrinsics import RagIntrinsicsAnswerCheck

from integrations.haystack.tests.generators import AsyncGenerator
from integrations.haystack.tests.scripts import FAITHFUL, QUESTION, documents, retriever
from integrations.haystack.tests.scripts import judging as judging_runtime
from intrinsics_core import InvalidInput, RuntimeUnavailable
from tests.scripted import Scripted

OFF_TOPIC = "What does a crane driver earn?"


def down() -> Scripted:
    return Scripted(lambda request: RuntimeUnavailable("refused: " + "the whole reply " * 500))


@pytest.mark.parametrize("stored", [None, []])
def test_01_a_filter_that_keeps_nothing_before_a_gate(stored: Any) -> None:
    pipeline = Pipeline()
    pipeline.add_component("retriever", retriever(stored))
    pipeline.add_component("filter", RagIntrinsicsContextRelevanceFilter(labels=["relevant"]))
    pipeline.add_component("ranker", RagIntrinsicsRanker())
    pipeline.add_component("router", RagIntrinsicsAnswerabilityRouter())
    pipeline.connect("retriever", "filter.documents")
    pipeline.connect("filter.documents", "ranker.documents")
    pipeline.connect("ranker.documents", "router.documents")
    found = pipeline.run({name: {"query": "Who won the football cup?"} for name in pipeline.graph.nodes})["router"]
    assert found["unanswerable"] == "Who won the football cup?"
    assert found["result"]["reason"] == "nothing retrieved" and "degraded" not in found["result"]


def test_03_two_chunks_that_carry_the_id_of_their_file() -> None:
    chunks = [
        Document(id="report.pdf", content="The harbour of Port Ellery has two cranes."),
        Document(id="report.pdf", content="Ada Brink built the mill in 1911."),
    ]
    ranked = RagIntrinsicsRanker().run(query=QUESTION, documents=chunks)["documents"]
    assert [d.content for d in ranked] == [chunks[1].content, chunks[0].content]
    cited = RagIntrinsicsAnswerCheck(checks="citations").run(query=QUESTION, replies=[FAITHFUL], documents=chunks)
    assert cited["replies"][0].text == "Ada Brink built the mill in 1911 [2]."


def test_03_the_same_document_from_two_retrievers() -> None:
    twice = DocumentJoiner(join_mode="concatenate").run(documents=[documents(), documents()])["documents"]
    given = [*documents(), *twice]  # and from one that nobody joined
    found = RagIntrinsicsRanker().run(query=QUESTION, documents=given)["documents"]
    assert sorted(d.id for d in found) == ["cranes", "fog", "mill"]
    [row] = RagIntrinsicsAnswerCheck(checks="citations").run(
        query=QUESTION, replies=[FAITHFUL], documents=[given[0], *given]
    )["results"][0]["citations"]["citations"]
    assert row["document_index"] == 2  # counted in the list that came in


def test_04_what_the_generator_is_shown_of_a_document_the_judges_are_shown_too() -> None:
    rows = [
        Document(id="a", content="Revenue was 3.1 million.", meta={"company": "Acme", "year": 2024}),
        Document(id="b", content="Revenue was 2.4 million.", meta={"company": "Initech", "year": 2024}),
    ]
    shown: dict[str, Any] = {"meta_fields_to_embed": ["company", "year"]}
    question = "What was the revenue of Initech?"
    best = RagIntrinsicsRanker(**shown).run(query=question, documents=rows)["documents"]
    assert best[0].id == "b" and best[0].content == rows[1].content
    routed = RagIntrinsicsAnswerabilityRouter(**shown).run(query=question, documents=[rows[1]])
    assert routed["result"]["label"] == "answerable"
    runtime = judging_runtime()
    checker = RagIntrinsicsAnswerCheck(checks="hallucination-detection", runtime=runtime, **shown)
    checker.run(query=question, replies=["Initech earned 2.4 million."], documents=rows)
    asked = str(runtime.requests[0])
    assert "company: Initech" in asked and "year: 2024" in asked


def test_05_the_retrievers_score_takes_part_and_another_rankers_does_not() -> None:
    alike = [
        Document(id=name, content="The mill was built in 1911.", score=score, meta={"page": page})
        for page, (name, score) in enumerate([("high", 0.9), ("middle", 0.5), ("low", 0.1)])
    ]
    ranker = RagIntrinsicsRanker()
    once = ranker.run(query=QUESTION, documents=alike)["documents"]
    assert [d.id for d in once] == ["high", "middle", "low"]
    assert [d.meta["retrieval_score"] for d in once] == [0.9, 0.5, 0.1]
    # Ranked again for another question, what the first ranking wrote counts for nothing.
    by_us = ranker.run(query="Is there fog?", documents=once)["documents"]
    assert len({d.score for d in by_us}) == 1 and not any("retrieval_score" in d.meta for d in by_us)
    again = ranker.run(query=QUESTION, documents=once)["documents"]
    assert [(d.id, d.score, d.meta) for d in again] == [(d.id, d.score, d.meta) for d in once]


def test_05_distances_are_told_from_scores_or_said_to_be_distances() -> None:
    alike = [Document(id=str(d), content="The mill was built in 1911.", score=d) for d in (0.2, 0.4, 0.9)]
    found = RagIntrinsicsRanker().run(query=QUESTION, documents=alike)
    assert [d.id for d in found["documents"]] == ["0.2", "0.4", "0.9"]
    assert found["result"]["prior"] == "lower is better"
    mixed, ranker = [alike[1], alike[2], alike[0]], RagIntrinsicsRanker(prior="lower")
    assert [d.id for d in ranker.run(query=QUESTION, documents=mixed)["documents"]] == ["0.2", "0.4", "0.9"]
    unsaid = RagIntrinsicsRanker().run(query=QUESTION, documents=mixed)
    assert [d.id for d in unsaid["documents"]] == ["0.4", "0.9", "0.2"] and "prior" not in unsaid["result"]
    saved = RagIntrinsicsRanker.from_dict(RagIntrinsicsRanker(prior="lower").to_dict())
    assert saved.prior == "lower"
    left_out = RagIntrinsicsRanker(prior=None).run(query=QUESTION, documents=alike)
    assert len({d.score for d in left_out["documents"]}) == 1
    with pytest.raises(InvalidInput, match="prior"):
        RagIntrinsicsRanker(prior="up")  # type: ignore[arg-type]


def test_06_a_threshold_means_the_same_for_one_document_and_for_gibberish() -> None:
    ranker = RagIntrinsicsRanker(score_threshold=0.5)
    one = ranker.run(query=QUESTION, documents=[Document(content="Ada Brink built the mill in 1911.")])
    none = ranker.run(query=QUESTION, documents=[Document(content=t) for t in ("xqz vrr", "lorem ipsum", "?!")])
    assert (len(one["documents"]), len(none["documents"])) == (1, 0)


def test_06_no_threshold_on_places_in_a_list() -> None:
    ranker = RagIntrinsicsRanker(judging_runtime(), score_threshold=0.9)
    found = ranker.run(query=QUESTION, documents=documents())
    assert len(found["documents"]) == 3
    assert "not applied" in found["result"]["warning"]


def test_06_a_fallback_keeps_the_scores_and_is_short() -> None:
    given = [Document(id=str(i), content=f"Text {i}.", score=1 - i / 50) for i in range(50)]
    ranked = RagIntrinsicsRanker(down(), on_error="fallback", score_threshold=0.9).run(query=QUESTION, documents=given)
    assert [(d.id, d.score) for d in ranked["documents"]] == [(d.id, d.score) for d in given]
    kept = RagIntrinsicsContextRelevanceFilter(down(), on_error="fallback").run(query=QUESTION, documents=given)
    assert [d.score for d in kept["documents"]] == [d.score for d in given]
    for document in kept["documents"]:
        assert "refused" in document.meta["context_relevance_degraded"]
        assert len(str(document.meta)) < 500


def test_07_brackets_go_to_the_retriever_alone() -> None:
    pipeline = Pipeline()
    pipeline.add_component("rewriter", RagIntrinsicsQueryRewriter())
    pipeline.add_component("retriever", retriever())
    template = [ChatMessage.from_user("{% for d in documents %}{{ d.content }}{% endfor %} {{ query }}")]
    pipeline.add_component("prompt", ChatPromptBuilder(template, required_variables="*"))
    pipeline.connect("rewriter.retrieval_query", "retriever.query")
    pipeline.connect("rewriter.standalone_query", "prompt.query")
    pipeline.connect("retriever", "prompt.documents")
    history = [
        ChatMessage.from_user("Tell me of the tide mill at Port Ellery."),
        ChatMessage.from_assistant("The tide mill stands on the east quay."),
    ]
    data = {"rewriter": {"query": "When was it built?", "history": history}}
    found = pipeline.run(data, include_outputs_from={"rewriter"})
    assert "(" not in found["prompt"]["prompt"][0].text and "mill" in found["prompt"]["prompt"][0].text
    assert found["rewriter"]["standalone_query"] == found["rewriter"]["result"]["query"]


def test_14_twenty_documents_are_one_call_and_a_sloppy_list_is_read() -> None:
    asked: list[Any] = []

    def sloppy(messages: Any, settings: Any) -> str:
        asked.append(messages)
        return '<think>d0? {"ranking": []}</think>{"ranking": ["d7", "d7", 3, "d99", {"id": "d1"}]}'

    given = [Document(id=f"n{i}", content=f"Text {i}.") for i in range(20)]
    found = RagIntrinsicsRanker(AsyncGenerator(sloppy)).run(query=QUESTION, documents=given)
    assert len(asked) == 1
    assert [d.id for d in found["documents"][:4]] == ["n7", "n3", "n1", "n0"]
    assert len(found["documents"]) == 20 and found["result"]["dropped"] == 2
    theirs = LLMRanker(chat_generator=AsyncGenerator(sloppy), top_k=20).run(query=QUESTION, documents=given)
    assert [d.id for d in theirs["documents"]] == [d.id for d in given]  # the peer gives up on such a reply


def test_16_one_runtime_for_all_also_after_loading(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINE", "sk-none")
    config = {"kind": "server", "base_url": "http://127.0.0.1:9/v1", "api_key": Secret.from_env_var("MINE")}
    for runtime in (config, MockChatGenerator("a reply")):
        pipeline = Pipeline()
        pipeline.add_component("ranker", RagIntrinsicsRanker(runtime))
        pipeline.add_component("router", RagIntrinsicsAnswerabilityRouter(runtime))
        pipeline.connect("ranker.documents", "router.documents")
        again = Pipeline.from_dict(pipeline.to_dict())
        assert again.to_dict() == pipeline.to_dict()
        for loaded in (pipeline, again):
            ranker, router = loaded.get_component("ranker"), loaded.get_component("router")
            shared = router._ready()
            assert ranker._ready() is shared
            ranker.close()
            assert router._ready() is shared  # what others still use is not closed under them
        assert again.get_component("router")._ready() is not pipeline.get_component("router")._ready()


def test_16_a_saved_config_that_was_used_is_read_anew() -> None:
    ranker = RagIntrinsicsRanker({"kind": "embedded", "threads": 1})
    ranker.warm_up()
    later = RagIntrinsicsRanker({"kind": "embedded", "threads": 1})
    assert later._ready() is not ranker._ready()


def test_16_verdicts_are_flat_for_templates_and_stores() -> None:
    kept = RagIntrinsicsContextRelevanceFilter().run(query=QUESTION, documents=documents())["documents"]
    ranked = RagIntrinsicsRanker().run(query=QUESTION, documents=kept)["documents"]
    line = "{{ d.meta.context_relevance }} {{ d.meta.reranking_rank }}: {{ d.content }}"
    text = "{% for d in documents %}" + line + "{% endfor %}"
    prompt = ChatPromptBuilder([ChatMessage.from_user(text)], required_variables="*").run(documents=ranked)["prompt"]
    assert prompt[0].text.startswith("relevant 1: The tide mill")
    assert all(isinstance(value, str | int | float | bool) for d in ranked for value in d.meta.values())
    store = InMemoryDocumentStore()
    store.write_documents(ranked)
    relevant = {"field": "meta.context_relevance", "operator": "==", "value": "relevant"}
    assert [d.id for d in store.filter_documents(relevant)] == ["mill"]


def test_17_an_embedding_retriever_offline() -> None:
    from haystack_integrations.components.embedders.rag_intrinsics import (
        RagIntrinsicsDocumentEmbedder,
        RagIntrinsicsTextEmbedder,
    )

    store = InMemoryDocumentStore(embedding_similarity_function="cosine")
    index = Pipeline()
    index.add_component("embedder", RagIntrinsicsDocumentEmbedder(meta_fields_to_embed=["title"]))
    index.add_component("writer", DocumentWriter(store))
    index.connect("embedder.documents", "writer.documents")
    given = documents()
    index.run({"embedder": {"documents": given}})
    assert all(d.embedding is None for d in given)  # copies

    search = Pipeline()
    search.add_component("embedder", RagIntrinsicsTextEmbedder())
    search.add_component("retriever", InMemoryEmbeddingRetriever(store, top_k=2))
    search.add_component("ranker", RagIntrinsicsRanker(top_k=1))
    search.connect("embedder.embedding", "retriever.query_embedding")
    search.connect("retriever", "ranker.documents")
    asked = "In which months can one not see far?"
    found = search.run({"embedder": {"text": asked}, "ranker": {"query": asked}})
    assert [d.id for d in found["ranker"]["documents"]] == ["fog"]
    one = TextEmbeddingRetriever(retriever=InMemoryEmbeddingRetriever(store), text_embedder=RagIntrinsicsTextEmbedder())
    assert one.run(query=asked, top_k=1)["documents"][0].id == "fog"
    assert Pipeline.loads(index.dumps()).dumps() == index.dumps()


def test_17_hybrid_retrieval_joined_and_ranked() -> None:
    from haystack_integrations.components.embedders.rag_intrinsics import (
        RagIntrinsicsDocumentEmbedder,
        RagIntrinsicsTextEmbedder,
    )

    store = InMemoryDocumentStore(embedding_similarity_function="cosine")
    store.write_documents(RagIntrinsicsDocumentEmbedder().run(documents())["documents"])
    pipeline = Pipeline()
    pipeline.add_component("embedder", RagIntrinsicsTextEmbedder())
    pipeline.add_component("meaning", InMemoryEmbeddingRetriever(store))
    pipeline.add_component("words", InMemoryBM25Retriever(store))
    pipeline.add_component("joiner", DocumentJoiner(join_mode="reciprocal_rank_fusion"))
    pipeline.add_component("ranker", RagIntrinsicsRanker(top_k=1))
    pipeline.connect("embedder.embedding", "meaning.query_embedding")
    pipeline.connect("meaning", "joiner")
    pipeline.connect("words", "joiner")
    pipeline.connect("joiner", "ranker.documents")
    found = pipeline.run({"embedder": {"text": QUESTION}, "words": {"query": QUESTION}, "ranker": {"query": QUESTION}})
    assert found["ranker"]["documents"][0].id == "mill"
