"""The query rewriter and the query expander."""

from __future__ import annotations

import asyncio
import logging

import pytest
from langchain_core.runnables import RunnableLambda
from langchain_rag_intrinsics import QueryExpander, QueryRewriter

from integrations.langchain.tests.scripts import TURNS, judging
from intrinsics_core.protocol.results import QueryExpansion, QueryRewrite
from tests.contract.scripts import no_judge


def test_rewriter_returns_the_query() -> None:
    rewriter = QueryRewriter(runtime=judging())
    assert rewriter.invoke(TURNS) == "Tell me about the mill. Who built it?"
    assert rewriter.batch([TURNS, "Who?"]) == ["Tell me about the mill. Who built it?", "Who?"]
    assert asyncio.run(rewriter.abatch([TURNS, "Who?"])) == ["Tell me about the mill. Who built it?", "Who?"]
    assert list(rewriter.stream(TURNS)) == ["Tell me about the mill. Who built it?"]
    assert (rewriter | RunnableLambda(str.upper)).invoke("Who?") == "WHO?"


def test_rewriter_without_a_model_uses_the_history() -> None:
    result = QueryRewriter(return_result=True).invoke(TURNS)
    assert isinstance(result, QueryRewrite)
    assert result.original == "Who built it?"
    assert "mill" in result.retrieval_query and "(" not in result.query


def test_expander_returns_queries() -> None:
    queries = QueryExpander(runtime=judging()).invoke(TURNS)
    assert queries[:2] == ["Who built it?", "Tell me about the mill. Who built it?"]
    assert len(queries) == len(set(queries)) == 5
    result = QueryExpander(runtime=judging(), return_result=True).invoke(TURNS)
    assert isinstance(result, QueryExpansion)
    assert [query.strategy for query in result.queries][:2] == ["original", "rewrite"]


@pytest.mark.parametrize("kind", [QueryRewriter, QueryExpander])
def test_a_fallback_is_said(kind: type, caplog: pytest.LogCaptureFixture) -> None:
    down = no_judge()
    with caplog.at_level(logging.WARNING, logger="langchain_rag_intrinsics"):
        found = kind(runtime=down, on_error="fallback").invoke("Who built it?")
    assert found in ("Who built it?", ["Who built it?"])
    assert "connection refused" in caplog.text
