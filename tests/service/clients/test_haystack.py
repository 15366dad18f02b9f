"""Haystack's Cohere ranker, unchanged but for its address."""

from __future__ import annotations

import pytest

rankers = pytest.importorskip(
    "haystack_integrations.components.rankers.cohere", reason="Haystack's ranker has an environment of its own"
)


def test_rerank(service):
    from haystack import Document
    from haystack.utils import Secret

    ranker = rankers.CohereRanker(api_base_url=service, api_key=Secret.from_token("unused"), top_k=1)
    found = [Document(content="Fog is common in May."), Document(content="Ada Brink built the tide mill in 1911.")]
    (best,) = ranker.run(query="Who built the tide mill?", documents=found)["documents"]
    assert "Ada Brink" in best.content
    assert best.score > 0.5
