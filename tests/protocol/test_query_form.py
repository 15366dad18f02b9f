"""Which retrievers are dense is told from the names of their classes."""

from __future__ import annotations

from typing import Any

import pytest

from intrinsics_core import InvalidInput
from intrinsics_core.protocol.query_form import embedding_query, query_form
from intrinsics_core.protocol.results import QueryRewrite


def made(name: str, **parts: Any) -> Any:
    return type(name, (), parts)()


DENSE = made("VectorStoreRetriever")
LEXICAL = made("InMemoryBM25Retriever")


@pytest.mark.parametrize("name", ["VectorIndexRetriever", "PgvectorEmbeddingRetriever", "ChromaQueryTextRetriever"])
def test_a_dense_retriever_is_asked_with_the_question(name: str) -> None:
    assert query_form(made(name)) == "embedding"
    assert query_form(type("Tenant", (type(made(name)),), {})()) == "embedding"


@pytest.mark.parametrize("name", ["BM25Retriever", "TFIDFRetriever", "SparseVectorRetriever", "Archive"])
def test_a_lexical_one_and_an_unknown_one_get_keywords(name: str) -> None:
    assert query_form(made(name)) == "keywords"
    assert query_form(lambda query: []) == "keywords"


def test_a_wrapper_is_what_it_wraps() -> None:
    assert query_form(made("RunnableBinding", bound=made("Configurable", default=DENSE))) == "embedding"
    assert query_form(made("EnsembleRetriever", retrievers=[DENSE, DENSE])) == "embedding"
    assert query_form(made("EnsembleRetriever", retrievers=[DENSE, LEXICAL])) == "keywords"


def test_a_ring_of_wrappers_ends() -> None:
    ring = made("Wrapper")
    type(ring).retriever = ring
    assert query_form(ring) == "keywords"


def rewritten(query: str, changed: bool = False) -> QueryRewrite:
    return QueryRewrite(query=query, retrieval_query=f"{query} (mill, quay)", original="Who built it?", changed=changed)


@pytest.mark.parametrize(
    ("query", "changed", "keywords"),
    [
        ("Who built the tide mill of Port Ellery?", False, False),
        ("Who built the tide mill, and was it hers?", True, False),
        ("Who built it?", False, True),
        ("And the height of the tower?", False, True),
        ("How deep?", False, True),
    ],
)
def test_a_question_that_leans_on_others_is_embedded_with_its_keywords(
    query: str, changed: bool, keywords: bool
) -> None:
    assert embedding_query(rewritten(query, changed)) == (f"{query} (mill, quay)" if keywords else query)


def test_the_form_may_be_named() -> None:
    assert query_form(DENSE, "keywords") == "keywords"
    with pytest.raises(InvalidInput, match="query_form is unknown"):
        query_form(DENSE, "both")  # type: ignore[arg-type]
