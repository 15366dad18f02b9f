"""The openai SDK, unchanged but for its address."""

from __future__ import annotations

import pytest

openai = pytest.importorskip("openai", reason="the openai SDK is not here")


def test_embeddings_and_models(service):
    client = openai.OpenAI(base_url=f"{service}/v1", api_key="unused")
    names = [model.id for model in client.models.list()]
    assert "default/embedding" in names
    told = client.embeddings.create(model="default/embedding", input=["Fog.", "Ada Brink."])
    assert [len(row.embedding) for row in told.data] == [384, 384]
    assert sum(x * x for x in told.data[0].embedding) == pytest.approx(1, abs=1e-5)
    floats = client.embeddings.create(model="default", input="Fog.", encoding_format="float")
    assert floats.data[0].embedding == pytest.approx(told.data[0].embedding, abs=1e-6)


def test_errors_are_the_sdks_own(service):
    client = openai.OpenAI(base_url=f"{service}/v1", api_key="unused")
    with pytest.raises(openai.NotFoundError) as told:
        client.embeddings.create(model="defualt/embedding", input="x")
    assert "default/embedding" in str(told.value.body)
    assert "model is unknown" in str(told.value)
    assert len(client.embeddings.create(model="text-embedding-3-small", input="x").data) == 1
    with pytest.raises(openai.BadRequestError):
        client.embeddings.create(model="default", input=[[1, 2, 3]])
