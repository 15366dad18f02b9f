"""A user's program with the calls that the documentation shows. `.ci/run` checks its types; a test runs it."""

from __future__ import annotations

from typing import Any

from haystack import Document, Pipeline
from haystack.components.builders import ChatPromptBuilder
from haystack.components.generators.chat import MockChatGenerator
from haystack.components.retrievers import TextEmbeddingRetriever
from haystack.components.retrievers.in_memory import InMemoryEmbeddingRetriever
from haystack.dataclasses import ChatMessage
from haystack.document_stores.in_memory import InMemoryDocumentStore
from haystack_integrations.components.embedders.rag_intrinsics import (
    RagIntrinsicsDocumentEmbedder,
    RagIntrinsicsTextEmbedder,
)
from haystack_integrations.components.evaluators.rag_intrinsics import RagIntrinsicsEvaluator
from haystack_integrations.components.query.rag_intrinsics import RagIntrinsicsQueryExpander, RagIntrinsicsQueryRewriter
from haystack_integrations.components.rankers.rag_intrinsics import (
    RagIntrinsicsContextRelevanceFilter,
    RagIntrinsicsRanker,
)
from haystack_integrations.components.routers.rag_intrinsics import RagIntrinsicsAnswerabilityRouter
from haystack_integrations.components.validators.rag_intrinsics import RagIntrinsicsAnswerCheck, RagIntrinsicsReviser

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
    template = [ChatMessage.from_user("{% for d in documents %}{{ d.content }} {% endfor %}{{ query }}")]
    rag = Pipeline()
    rag.add_component("retriever", searching())
    rag.add_component("router", RagIntrinsicsAnswerabilityRouter(on_error="open"))
    rag.add_component("prompt", ChatPromptBuilder(template, required_variables="*"))
    rag.add_component("generator", MockChatGenerator([MILL]))
    rag.add_component("check", RagIntrinsicsAnswerCheck(checks=["audit"], mode="block", labels="unfaithful"))
    for sender, receiver in [("retriever.documents", "router.documents"), ("router.answerable", "prompt.documents"),
                             ("prompt.prompt", "generator.messages"), ("generator.replies", "check.replies"),
                             ("router.answerable", "check.documents")]:  # fmt: skip
        rag.connect(sender, receiver)
    asked = {name: {"query": QUESTION} for name in ("retriever", "router", "prompt", "check")}
    replies: list[ChatMessage] = rag.run(asked)["check"]["replies"]
    return str(replies[0].text)


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
    options = {"fact-check": {"top_k": 3}}
    labels = []
    for judging in (RagIntrinsicsAnswerCheck(citations="inline", style="markdown"),
                    RagIntrinsicsAnswerCheck(checks=("citations", "uncertainty", "fact-check"), options=options),
                    RagIntrinsicsReviser(mend=False)):  # fmt: skip
        judging.warm_up()
        out: dict[str, Any] = judging.run(query=QUESTION, documents=DOCUMENTS, replies=replies)
        labels.append(",".join(sorted(out)))
    routed: dict[str, Any] = RagIntrinsicsAnswerabilityRouter(on_error="open").run(query=QUESTION, documents=DOCUMENTS)
    rows: dict[str, Any] = {"questions": [QUESTION], "contexts": [[MILL]], "predicted_answers": [MILL]}
    scores: list[float] = RagIntrinsicsEvaluator("hallucination-detection").run(**rows)["individual_scores"]
    rated: dict[str, Any] = RagIntrinsicsEvaluator("evaluate", options={"metrics": ["faithfulness"]}).run(**rows)
    return [*labels, ",".join(sorted(routed)), str(scores[0] > 0.5), ",".join(sorted(rated))]


if __name__ == "__main__":
    print(ask(), retrieve(), judge())
