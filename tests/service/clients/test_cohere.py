"""The cohere SDK, unchanged but for its address."""

from __future__ import annotations

import pytest

cohere = pytest.importorskip("cohere", reason="the cohere SDK has an environment of its own")

QUERY, DOCUMENTS = "Who built the tide mill?", ["Fog is common in May.", "Ada Brink built the tide mill in 1911."]


@pytest.mark.parametrize("kind", ["Client", "ClientV2"])
def test_rerank(service, kind):
    client = getattr(cohere, kind)(api_key="unused", base_url=service)
    told = client.rerank(model="rerank-v3.5", query=QUERY, documents=DOCUMENTS, top_n=1)
    assert [row.index for row in told.results] == [1]
    assert 0.5 < told.results[0].relevance_score <= 1
    assert "rerank-v3.5" in told.meta.warnings[0]
    assert client.rerank(model="default", query=QUERY, documents=[]).results == []


def test_errors_are_the_sdks_own(service):
    client = cohere.ClientV2(api_key="unused", base_url=service)
    with pytest.raises(cohere.BadRequestError) as told:
        client.rerank(model="default", query="", documents=DOCUMENTS)
    assert told.value.body["title"] == "InvalidInput"


async def test_rerank_async(service):
    client = cohere.AsyncClientV2(api_key="unused", base_url=service)
    told = await client.rerank(model="default", query=QUERY, documents=DOCUMENTS)
    assert [row.index for row in told.results] == [1, 0]
