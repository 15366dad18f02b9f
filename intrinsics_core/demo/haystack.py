"""The story told by Haystack: a pipeline of the kind that people have, with our components in their places."""

from collections.abc import Iterator, Sequence
from typing import Any

from haystack import Document, Pipeline, component
from haystack.components.retrievers import TextEmbeddingRetriever
from haystack.components.retrievers.in_memory import InMemoryEmbeddingRetriever
from haystack.dataclasses import ChatMessage
from haystack.document_stores.in_memory import InMemoryDocumentStore
from haystack_integrations.components.embedders.rag_intrinsics import (
    RagIntrinsicsDocumentEmbedder,
    RagIntrinsicsTextEmbedder,
)
from haystack_integrations.components.query.rag_intrinsics import RagIntrinsicsQueryRewriter
from haystack_integrations.components.rankers.rag_intrinsics import (
    RagIntrinsicsContextRelevanceFilter,
    RagIntrinsicsRanker,
)
from haystack_integrations.components.routers.rag_intrinsics import RagIntrinsicsAnswerabilityRouter
from haystack_integrations.components.validators.rag_intrinsics import RagIntrinsicsAnswerCheck

from intrinsics_core.demo.story import CHECKS, KEPT, RETRIEVED, Question, Said, Story, answer_from, turns, verdicts_of
from intrinsics_core.protocol import task as conversation
from intrinsics_core.protocol.results import Answerability, ContextRelevance, QueryRewrite, Ranking
from intrinsics_core.render.trace import Turn
from intrinsics_core.runtimes import Runtime


@component
class Best:
    """The first few documents."""

    @component.output_types(documents=list[Document])
    def run(self, documents: list[Document]) -> dict[str, Any]:
        return {"documents": documents[:KEPT]}


@component
class Context:
    """What the answer may rest on: the relevant passages, or the best ones where the gate saw more than the filter."""

    @component.output_types(documents=list[Document])
    def run(self, best: list[Document], relevant: list[Document]) -> dict[str, Any]:
        return {"documents": relevant[:KEPT] or best}


@component
class Answerer:
    """Answers by the runtime's language model, or by quoting; ``invented`` is said after it."""

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime

    @component.output_types(replies=list[ChatMessage])
    def run(self, query: str, documents: list[Document], invented: str = "") -> dict[str, Any]:
        answer = answer_from(self.runtime, query, [*map(_document, documents)])
        return {"replies": [ChatMessage.from_assistant(" ".join(filter(None, (answer, invented))))]}


def pipeline(documents: Sequence[conversation.Document], runtime: Runtime) -> Pipeline:
    """Rewrite, retrieve, rank, filter, route, answer, check."""
    store = InMemoryDocumentStore(embedding_similarity_function="cosine")
    passages = [Document(id=d.id or "", content=d.text, meta={"title": d.title}) for d in documents]
    store.write_documents(RagIntrinsicsDocumentEmbedder(meta_fields_to_embed=["title"]).run(passages)["documents"])
    by_meaning = InMemoryEmbeddingRetriever(store, top_k=RETRIEVED)
    parts: dict[str, Any] = {
        "rewriter": RagIntrinsicsQueryRewriter(runtime),
        "retriever": TextEmbeddingRetriever(retriever=by_meaning, text_embedder=RagIntrinsicsTextEmbedder()),
        "ranker": RagIntrinsicsRanker(runtime),
        "filter": RagIntrinsicsContextRelevanceFilter(runtime),
        "best": Best(),
        "router": RagIntrinsicsAnswerabilityRouter(runtime),
        "context": Context(),
        "answerer": Answerer(runtime),
        "check": RagIntrinsicsAnswerCheck(runtime, checks=CHECKS, citations=None),  # the page marks them in its own way
    }
    # From the rewriter on, the rewritten question is the question, and the history has served.
    asked = ("ranker", "filter", "router", "answerer", "check")
    wires = [
        ("rewriter.standalone_query", "retriever.query"),  # whole and without keywords: it is meaning that is compared
        *[("rewriter.standalone_query", f"{name}.query") for name in asked],
        ("retriever.documents", "ranker.documents"),
        ("ranker.documents", "filter.documents"),
        ("ranker.documents", "best.documents"),
        ("best.documents", "router.documents"),
        ("router.answerable", "context.best"),
        ("filter.documents", "context.relevant"),
        *[("context.documents", f"{name}.documents") for name in ("answerer", "check")],
        ("answerer.replies", "check.replies"),
    ]
    chain = Pipeline()
    for name, part in parts.items():
        chain.add_component(name, part)
    for sender, receiver in wires:
        chain.connect(sender, receiver)
    return chain


def play(
    tale: Story, questions: Sequence[Question], documents: Sequence[conversation.Document], runtime: Runtime
) -> Iterator[Turn]:
    """Ask the questions in one conversation; each turn as it ends."""
    chain = pipeline(documents, runtime)
    wanted = {"rewriter", "retriever", "ranker", "filter", "router", "context", "check"}

    def tell(question: Question, said: Said) -> Turn:
        history = [message for q, answer in said
                   for message in (ChatMessage.from_user(q), ChatMessage.from_assistant(answer))]  # fmt: skip
        data = {"rewriter": {"query": question.ask, "history": history}, "answerer": {"invented": question.invented}}
        return _turn(question, tale.refusal, chain.run(data, include_outputs_from=wanted))

    return turns(questions, tell)


def _turn(question: Question, refusal: str, found: dict[str, Any]) -> Turn:
    """What the pipeline left in documents, messages and outputs, as results again."""
    replies = found.get("check", {}).get("replies")
    return Turn(
        question=question.ask,
        remark=question.remark,
        answer=replies[0].text if replies else refusal,
        rewrite=QueryRewrite.model_validate(found["rewriter"]["result"]),
        retrieved=tuple(map(_document, found["retriever"]["documents"])),
        ranking=Ranking.model_validate(found["ranker"]["result"]),
        relevance=ContextRelevance.model_validate(found["filter"]["result"]),
        kept=tuple(map(_document, found["context"]["documents"])) if replies else (),
        gate=Answerability.model_validate(found["router"]["result"]) if found["ranker"]["documents"] else None,
        blocked=not replies,
        **verdicts_of(replies[0].meta["rag_intrinsics"] if replies else {}),
    )


def _document(document: Document) -> conversation.Document:
    return conversation.Document(
        document.content or "", id=document.id, title=document.meta["title"], score=document.score
    )
