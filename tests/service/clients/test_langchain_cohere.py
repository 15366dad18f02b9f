"""langchain-cohere's reranker, unchanged but for its address."""

from __future__ import annotations

import pytest

langchain_cohere = pytest.importorskip("langchain_cohere", reason="langchain-cohere has an environment of its own")


def test_rerank(service):
    from langchain_core.documents import Document

    reranker = langchain_cohere.CohereRerank(base_url=service, cohere_api_key="unused", model="rerank-v3.5", top_n=1)
    found = [Document("Fog is common in May.", metadata={"n": 1}),
             Document("Ada Brink built the tide mill in 1911.", metadata={"n": 2})]  # fmt: skip
    (best,) = reranker.compress_documents(found, "Who built the tide mill?")
    assert best.metadata["n"] == 2
    assert best.metadata["relevance_score"] > 0.5
