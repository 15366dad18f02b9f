"""A user's program with the calls that the documentation shows. `.ci/run` checks its types; a test runs it."""

from __future__ import annotations

from typing import Any

from haystack import Document, Pipeline
from haystack.components.generators.chat import MockChatGenerator
from haystack.components.retrievers import TextEmbeddingRetriever
from haystack.components.retrievers.in_memory import InMemoryEmbeddingRetriever
from haystack.dataclasses import ChatMessage
from haystack.document_stores.in_memory import InMemoryDocumentStore
from haystack_integrations.components.embedders.rag_intrinsics import (
    RagIntrinsicsDocumentEmbedder,
    RagIntrinsicsTextEmbedder,
)
from haystack_integrations.components.evaluators.rag_intrinsics import (
    RagIntrinsicsAnswerEvaluator,
    RagIntrinsicsFactChecker,
    RagIntrinsicsFaithfulnessEvaluator,
    RagIntrinsicsUncertaintyScorer,
)
from haystack_integrations.components.pipelines.rag_intrinsics import RagIntrinsicsPipeline
from haystack_integrations.components.query.rag_intrinsics import RagIntrinsicsQueryExpander, RagIntrinsicsQueryRewriter
from haystack_integrations.components.rankers.rag_intrinsics import (
    RagIntrinsicsContextRelevanceFilter,
    RagIntrinsicsRanker,
)
from haystack_integrations.components.routers.rag_intrinsics import RagIntrinsicsAnswerabilityRouter
from haystack_integrations.components.validators.rag_intrinsics import (
    RagIntrinsicsAuditor,
    RagIntrinsicsCitationBuilder,
    RagIntrinsicsGroundednessChecker,
)

MILL = "Ada Brink built the tide mill in 1911."
QUESTION = "Who built the tide mill?"
DOCUMENTS = [Document(id="mill", content=MILL), Document(id="fog", content="Fog is common from March to May.")]


def searching() -> TextEmbeddingRetriever:
    store = InMemoryDocumentStore(embedding_similarity_function="cosine")
    embedded: list[Document] = RagIntrinsicsDocumentEmbedder(batch_size=8).run(DOCUMENTS)["documents"]
    store.write_documents(embedded)
    by_vector = InMemoryEmbeddingRetriever(store)
    return TextEmbeddingRetriever(retriever=by_vector, text_embedder=RagIntrinsicsTextEmbedder())


def ask() -> str:
    generator = MockChatGenerator([MILL])
    rag = RagIntrinsicsPipeline(searching(), generator, system_prompt="Be brief.", top_k=1, on_error="raise")
    found: dict[str, Any] = rag.run(query=QUESTION, history=[ChatMessage.from_user("Hello")])
    return str(found["answers"][0].data)


def retrieve() -> list[Document]:
    pipeline = Pipeline()
    pipeline.add_component("rewriter", RagIntrinsicsQueryRewriter(on_error="fallback"))
    pipeline.add_component("ranker", RagIntrinsicsRanker(top_k=1, score_threshold=0.1, mode="pointwise"))
    pipeline.add_component("filter", RagIntrinsicsContextRelevanceFilter(labels="relevant"))
    pipeline.connect("rewriter.standalone_query", "ranker.query")
    pipeline.connect("ranker.documents", "filter.documents")
    pipeline.connect("rewriter.standalone_query", "filter.query")
    given = {"rewriter": {"query": QUESTION}, "ranker": {"documents": DOCUMENTS}}
    kept: list[Document] = pipeline.run(given)["filter"]["documents"]
    queries: list[str] = RagIntrinsicsQueryExpander().run(query=QUESTION)["queries"]
    return kept if queries else []


def judge() -> list[str]:
    replies = [ChatMessage.from_assistant(f"{MILL} It burned down in 1954.")]
    labels = []
    for judging in (RagIntrinsicsAuditor(markers=True), RagIntrinsicsGroundednessChecker(),
                    RagIntrinsicsCitationBuilder(), RagIntrinsicsUncertaintyScorer(),
                    RagIntrinsicsFactChecker(top_k=3)):  # fmt: skip
        judging.warm_up()
        out: dict[str, Any] = judging.run(query=QUESTION, documents=DOCUMENTS, replies=replies)
        labels.append(",".join(sorted(out)))
    routed: dict[str, Any] = RagIntrinsicsAnswerabilityRouter(on_error="open").run(query=QUESTION, documents=DOCUMENTS)
    rows: dict[str, Any] = {"questions": [QUESTION], "contexts": [[MILL]], "predicted_answers": [MILL]}
    scores: list[float] = RagIntrinsicsFaithfulnessEvaluator().run(**rows)["individual_scores"]
    rated: dict[str, Any] = RagIntrinsicsAnswerEvaluator(metrics="faithfulness").run(**rows)
    return [*labels, ",".join(sorted(routed)), str(scores[0] > 0.5), ",".join(sorted(rated))]


if __name__ == "__main__":
    print(ask(), retrieve(), judge())
