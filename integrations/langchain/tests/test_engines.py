"""A component makes its runtime once, whatever calls it: connections, loaded models and what it learnt are kept."""

from __future__ import annotations

import asyncio
import time
import warnings
from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.runnables import RunnableLambda
from langchain_rag_intrinsics import (
    ContextRelevanceFilter,
    IntrinsicsReranker,
    IntrinsicsRetriever,
    QueryExpander,
    QueryRewriter,
)

from integrations.langchain.tests.models import SchemaModel
from integrations.langchain.tests.scripts import QUESTION, documents
from intrinsics_core import Runtime, as_runtime

EMBEDDED = {"kind": "embedded"}


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[Runtime]:
    """The runtimes that components have made."""
    runtimes: list[Runtime] = []

    def making(spec: Any) -> Runtime:
        time.sleep(0.02)  # long enough for threads to meet
        runtimes.append(as_runtime(spec))
        return runtimes[-1]

    monkeypatch.setattr("langchain_rag_intrinsics._runtime.as_runtime", making)
    return runtimes


def searching(**parts: Any) -> IntrinsicsRetriever:
    return IntrinsicsRetriever(retriever=RunnableLambda(lambda query: documents()), **parts)


def rewriting() -> tuple[Any, Callable[[], Any], Callable[[], Any]]:
    retriever = searching(rewriter=QueryRewriter(runtime=EMBEDDED))
    return retriever.rewriter, lambda: retriever.invoke(QUESTION), lambda: retriever.ainvoke(QUESTION)


def expanding() -> tuple[Any, Callable[[], Any], Callable[[], Any]]:
    retriever = searching(expander=QueryExpander(runtime=EMBEDDED, return_result=True))
    return retriever.expander, lambda: retriever.invoke(QUESTION), lambda: retriever.ainvoke(QUESTION)


def reranking() -> tuple[Any, Callable[[], Any], Callable[[], Any]]:
    return compressing(IntrinsicsReranker(runtime=EMBEDDED, return_result=True))


def filtering() -> tuple[Any, Callable[[], Any], Callable[[], Any]]:
    return compressing(ContextRelevanceFilter(runtime=EMBEDDED, return_result=True))


def compressing(component: Any) -> tuple[Any, Callable[[], Any], Callable[[], Any]]:
    return (
        component,
        lambda: component.compress_documents(documents(), QUESTION),
        lambda: component.acompress_documents(documents(), QUESTION),
    )


@pytest.mark.parametrize("using", [rewriting, expanding, reranking, filtering])
@pytest.mark.parametrize("asynchronous_first", [False, True])
def test_one_runtime_for_all_calls(using: Any, asynchronous_first: bool, made: list[Runtime]) -> None:
    component, call, acall = using()

    async def twice() -> None:
        await acall()
        await acall()

    steps = [lambda: (call(), call()), lambda: asyncio.run(twice())]
    for step in reversed(steps) if asynchronous_first else steps:
        step()
    assert made == [component.engine]


def test_one_runtime_for_threads_that_come_first_together(made: list[Runtime]) -> None:
    rewriter = QueryRewriter(runtime=EMBEDDED)
    assert rewriter.batch([QUESTION] * 8) == [QUESTION] * 8
    assert made == [rewriter.engine]


def test_a_retrieval_remembers_what_the_chat_model_refuses() -> None:
    def reply(messages: Any, settings: dict[str, Any]) -> Any:
        refused = ValueError("400: unknown field response_format")
        return refused if settings.get("response_format") else {"rewritten_question": QUESTION}

    model = SchemaModel(reply=reply)
    retriever = searching(rewriter=QueryRewriter(runtime=model))
    with pytest.warns(RuntimeWarning, match="asked without from now on"):
        retriever.invoke(QUESTION)
    assert len(model.seen) == 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        retriever.invoke(QUESTION)
        asyncio.run(retriever.ainvoke(QUESTION))
    assert len(model.seen) == 4
