"""The embedding model: LangChain's own suites, and what it is for."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_rag_intrinsics import IntrinsicsEmbeddings
from langchain_tests.integration_tests import EmbeddingsIntegrationTests
from langchain_tests.unit_tests import EmbeddingsUnitTests

from intrinsics_core import InvalidInput
from intrinsics_core._support import cancellation
from intrinsics_core.embedded.runtime import EmbeddedRuntime
from tests.contract.runtimes import cancelled


class Params:
    @property
    def embeddings_class(self) -> type[Embeddings]:
        return IntrinsicsEmbeddings

    @property
    def embedding_model_params(self) -> dict[str, Any]:
        return {}


class TestUnit(Params, EmbeddingsUnitTests):
    pass


class TestIntegration(Params, EmbeddingsIntegrationTests):
    pass


def test_all_shapes_of_runtime_give_the_same_vectors() -> None:
    texts = ["Ada Brink built the tide mill.", "\U0001f33e 磨坊由艾达建造。", "", "word " * 2000]
    expected = IntrinsicsEmbeddings().embed_documents(texts)
    assert [len(vector) for vector in expected] == [384] * 4
    assert len(set(expected[2])) == 1  # nothing to say
    for runtime in ("embedded", {"kind": "embedded"}, EmbeddedRuntime()):
        assert IntrinsicsEmbeddings(runtime=runtime).embed_documents(texts) == expected
    assert asyncio.run(IntrinsicsEmbeddings().aembed_documents(texts)) == expected
    assert asyncio.run(IntrinsicsEmbeddings().aembed_query(texts[0])) == IntrinsicsEmbeddings().embed_query(texts[0])


@pytest.mark.parametrize("runtime", [{"kind": "server", "base_url": "http://127.0.0.1:9"}, 3])
def test_what_gives_no_vectors_is_refused_when_it_is_built(runtime: Any) -> None:
    with pytest.raises(InvalidInput, match="runtime"):
        IntrinsicsEmbeddings(runtime=runtime)


def test_a_store_takes_an_empty_text() -> None:
    store = InMemoryVectorStore(IntrinsicsEmbeddings())
    store.add_documents([Document("", id="blank"), Document("Ada Brink built the tide mill.", id="mill")])
    assert [found.id for found in store.similarity_search("Who built the mill?", k=2)] == ["mill", "blank"]
    assert store.similarity_search("", k=1)[0].id == "blank"


def test_a_cancelled_embedding_stops_between_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    started, go_on, stopped = threading.Event(), threading.Event(), threading.Event()

    def waiting(self: Any, texts: Any, *, kind: str) -> Any:
        started.set()
        go_on.wait(60)
        try:
            cancellation.check()  # as the encoder does between its batches
        except asyncio.CancelledError:
            stopped.set()
            raise
        return [[0.0]] * len(texts)

    monkeypatch.setattr(EmbeddedRuntime, "embed", waiting)

    async def main() -> None:
        await cancelled(IntrinsicsEmbeddings().aembed_documents(["a"]), started)
        go_on.set()
        assert await asyncio.to_thread(stopped.wait, 60)

    asyncio.run(main())
