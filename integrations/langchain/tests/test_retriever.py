"""The retriever wrapper: LangChain's own suite, and what it is for."""

from __future__ import annotations

import asyncio
import logging
import threading
from typing import Any

import pytest
from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.messages import AIMessage
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_rag_intrinsics import (
    ContextRelevanceFilter,
    IntrinsicsReranker,
    IntrinsicsRetriever,
    QueryExpander,
    QueryRewriter,
)
from langchain_tests.integration_tests import RetrieversIntegrationTests
from pydantic import Field

from integrations.langchain.tests.scripts import TURNS, documents, judging
from integrations.langchain.tests.test_chat_model import Spans
from intrinsics_core import InvalidInput
from tests.contract.scripts import no_judge


class WordRetriever(BaseRetriever):
    """Ranks by shared words; native in both worlds; keeps what it was asked."""

    passages: list[Document]
    asked: list[tuple[str, str]] = Field(default_factory=list)

    def _ranked(self, query: str, how: str) -> list[Document]:
        self.asked.append((query, how))
        words = set(query.lower().strip("?.").split())
        return sorted(self.passages, key=lambda d: -len(words & set(d.page_content.lower().strip(".").split())))

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        return self._ranked(query, "sync")

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun
    ) -> list[Document]:
        return self._ranked(query, "async")


def store() -> BaseRetriever:
    vectors = InMemoryVectorStore(DeterministicFakeEmbedding(size=16))
    vectors.add_documents([*documents(), Document("The kiln was rebuilt.", id="kiln")])
    return vectors.as_retriever()


class TestStandard(RetrieversIntegrationTests):
    @property
    def retriever_constructor(self) -> type[BaseRetriever]:
        return IntrinsicsRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        return {
            "retriever": store(),
            "rewriter": QueryRewriter(),
            "expander": QueryExpander(),
            "compressors": [IntrinsicsReranker()],
        }

    @property
    def retriever_query_example(self) -> str:
        return "Who built the mill?"


def wrapped(**parts: Any) -> tuple[IntrinsicsRetriever, WordRetriever]:
    inner = WordRetriever(passages=documents())
    return IntrinsicsRetriever(retriever=inner, **parts), inner


def test_nothing_added_is_the_retriever_itself() -> None:
    retriever, inner = wrapped()
    assert retriever.invoke("Fog in May?") == inner.invoke("Fog in May?")


@pytest.mark.parametrize("asynchronous", [False, True])
def test_each_step_in_its_place(asynchronous: bool) -> None:
    retriever, inner = wrapped(
        rewriter=QueryRewriter(runtime=judging()),
        expander=QueryExpander(runtime=judging()),
        compressors=[ContextRelevanceFilter(runtime=judging()), IntrinsicsReranker(runtime=judging())],
        k=1,
    )
    found = asyncio.run(retriever.ainvoke(TURNS)) if asynchronous else retriever.invoke(TURNS)
    assert [d.id for d in found] == ["mill"]
    assert {"context_relevance", "reranking_rank"} <= set(found[0].metadata)
    queries, ways = zip(*inner.asked, strict=True)
    assert "Tell me about the mill. Who built it?" in queries
    assert len(queries) == len(set(queries)) > 2
    assert set(ways) == {"async" if asynchronous else "sync"}
    assert found == (retriever.invoke(TURNS) if asynchronous else asyncio.run(retriever.ainvoke(TURNS)))


def test_the_retrieval_form_goes_to_the_retriever_and_the_question_to_the_reader() -> None:
    recording = Recording()
    retriever, inner = wrapped(rewriter=QueryRewriter(), compressors=[recording])
    retriever.invoke(TURNS)
    whole = QueryRewriter(return_result=True).invoke(TURNS)
    assert whole.query != whole.retrieval_query  # or this shows nothing
    assert [query for query, _ in inner.asked] == [whole.retrieval_query]
    asyncio.run(retriever.ainvoke(TURNS))
    assert recording.asked == [whole.query] * 2


def test_a_query_without_forms_goes_everywhere() -> None:
    recording = Recording()
    retriever, inner = wrapped(rewriter=QueryRewriter(runtime=judging()), compressors=[recording])
    retriever.invoke(TURNS)
    assert [query for query, _ in inner.asked] == recording.asked == ["Tell me about the mill. Who built it?"]


class Recording(ContextRelevanceFilter):
    asked: list[str] = Field(default_factory=list)

    def compress_documents(self, documents: Any, query: str, callbacks: Any = None) -> Any:
        self.asked.append(query)
        return documents

    async def acompress_documents(self, documents: Any, query: str, callbacks: Any = None) -> Any:
        return self.compress_documents(documents, query)


def test_a_rewriter_that_fell_back_is_said(caplog: pytest.LogCaptureFixture) -> None:
    down = no_judge()
    retriever, inner = wrapped(rewriter=QueryRewriter(runtime=down, on_error="fallback"))
    with caplog.at_level(logging.WARNING, logger="langchain_rag_intrinsics"):
        retriever.invoke(TURNS)
    assert inner.asked == [("Who built it?", "sync")]
    assert "connection refused" in caplog.text


def test_any_runnable_rewrites_and_expands() -> None:
    retriever, inner = wrapped(
        rewriter=RunnableLambda(lambda turns: "mill"), expander=RunnableLambda(lambda query: [query, "fog", "fog"])
    )
    retriever.invoke(TURNS)
    assert sorted(query for query, _ in inner.asked) == ["fog", "mill"]


def test_an_expander_alone_reads_the_conversation() -> None:
    retriever, inner = wrapped(expander=QueryExpander(runtime=judging()))
    retriever.invoke({"messages": TURNS})
    assert "Tell me about the mill. Who built it?" in [query for query, _ in inner.asked]


def test_an_expander_keeps_equal_texts_of_two_titles() -> None:
    reports = [Document("Revenue rose.", metadata={"title": name}) for name in "AB"]
    expander = RunnableLambda(lambda query: [query, "revenue"])
    retriever = IntrinsicsRetriever(retriever=RunnableLambda(lambda query: reports), expander=expander)
    assert retriever.invoke("Whose revenue rose?") == reports


def test_more_queries_are_asked_side_by_side() -> None:
    both = threading.Barrier(2, timeout=120)

    def slow(query: str) -> list[Document]:
        if query != "first":
            both.wait()
        return documents()

    expander = RunnableLambda(lambda query: [query, "a", "b", "a"])
    retriever = IntrinsicsRetriever(retriever=RunnableLambda(slow), expander=expander)
    assert len(retriever.invoke("first")) == 3


@pytest.mark.parametrize("asynchronous", [False, True])
def test_what_the_question_found_expands_it(asynchronous: bool) -> None:
    found = [
        Document("The tide mill at Port Ellery grinds barley for the brewery.", id="1"),
        Document("Barley for the brewery comes by barge to the mill.", id="2"),
        Document("The brewery and its barley store burnt down in 1921.", id="3"),
        Document("Barley for the brewery comes by barge to the mill.", id="2"),  # some retrievers give one twice
    ]
    inner = WordRetriever(passages=found)
    retriever = IntrinsicsRetriever(retriever=inner, expander=QueryExpander(return_result=True))
    question = "What does the mill do?"
    _ = asyncio.run(retriever.ainvoke(question)) if asynchronous else retriever.invoke(question)
    first, *more = [query for query, _ in inner.asked]
    assert first == question and first not in more
    assert any("barley" in query and "brewery" in query for query in more)  # words of what was found alone


def test_a_ranking_of_one_query_stays_as_it_is() -> None:
    retriever, inner = wrapped(expander=RunnableLambda(lambda query: [query]))
    assert retriever.invoke("Fog in May?") == inner.invoke("Fog in May?")
    assert len(inner.asked) == 2


@pytest.mark.parametrize("asynchronous", [False, True])
def test_steps_are_spans_inside(asynchronous: bool) -> None:
    retriever, _ = wrapped(
        rewriter=QueryRewriter(runtime=judging()),
        expander=RunnableLambda(lambda query: ["fog"], name="Expander"),
        compressors=[IntrinsicsReranker(runtime=judging())],
    )
    spans = Spans()
    if asynchronous:
        asyncio.run(retriever.ainvoke(TURNS, {"callbacks": [spans]}))
    else:
        retriever.invoke(TURNS, {"callbacks": [spans]})
    (root,) = spans.roots
    names = ["QueryRewriter", "WordRetriever", "Expander", "WordRetriever", "IntrinsicsReranker"]
    assert spans.names(root) == {"IntrinsicsRetriever": names}


def test_limits() -> None:
    retriever, _ = wrapped(k=2)
    assert len(retriever.invoke("mill")) == 2
    assert len(retriever.invoke("mill", k=1)) == 1
    assert len(retriever.invoke("mill", k=None)) == 3
    with pytest.raises(InvalidInput, match="k is out of range"):
        retriever.invoke("mill", k=-1)
    with pytest.raises(ValueError, match="greater than or equal"):
        wrapped(k=-1)


def test_found_nothing() -> None:
    retriever = IntrinsicsRetriever(
        retriever=RunnableLambda(lambda query: []),
        compressors=[ContextRelevanceFilter(runtime=judging()), IntrinsicsReranker(runtime=judging())],
    )
    assert retriever.invoke("mill") == []


def test_a_conversation_needs_a_question() -> None:
    with pytest.raises(InvalidInput, match="user turn"):
        wrapped()[0].invoke([AIMessage("Hello")])
