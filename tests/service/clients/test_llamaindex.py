"""LlamaIndex's Cohere reranker, unchanged but for its address."""

from __future__ import annotations

import pytest

rerankers = pytest.importorskip(
    "llama_index.postprocessor.cohere_rerank", reason="LlamaIndex's reranker has an environment of its own"
)


def test_rerank(service):
    from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

    reranker = rerankers.CohereRerank(base_url=service, api_key="unused", top_n=1)
    nodes = [NodeWithScore(node=TextNode(text=text)) for text in
             ("Fog is common in May.", "Ada Brink built the tide mill in 1911.")]  # fmt: skip
    (best,) = reranker.postprocess_nodes(nodes, query_bundle=QueryBundle("Who built the tide mill?"))
    assert "Ada Brink" in best.node.get_content()
    assert best.score > 0.5
