"""LlamaIndex with Chroma and Qdrant: the shipped embedder, filters, scores, reload, and ours behind.

Runs in an environment of its own (`.ci/run`); where a store's package is not installed its tests say so.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("llama_index.core", reason="LlamaIndex is not installed")

from llama_index.core import StorageContext, VectorStoreIndex
from llama_index.core.llms import ChatMessage, MockLLM
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import NodeWithScore, TextNode
from llama_index.core.vector_stores import ExactMatchFilter, MetadataFilters
from llama_index.embeddings.rag_intrinsics import IntrinsicsEmbedding
from llama_index.postprocessor.rag_intrinsics import IntrinsicsRerank
from llama_index.query_transform.rag_intrinsics import QueryRewriteTransform
from llama_index.rag_intrinsics import ConversationQuery
from llama_index.response_synthesizers.rag_intrinsics import AnswerabilityGate
from llama_index.retrievers.rag_intrinsics import IntrinsicsRetriever

from tests.stores.texts import QUESTION, TEXTS


@dataclass
class Store:
    """An index over a store with the texts in it, and how it is opened anew."""

    index: VectorStoreIndex
    again: Callable[[], VectorStoreIndex]


def chroma(folder: Path) -> Callable[[], Any]:
    import chromadb
    from llama_index.vector_stores.chroma import ChromaVectorStore

    def opened() -> Any:
        collection = chromadb.PersistentClient(str(folder)).get_or_create_collection("harbour")
        return ChromaVectorStore(chroma_collection=collection)

    return opened


def qdrant(folder: Path) -> Callable[[], Any]:
    from llama_index.vector_stores.qdrant import QdrantVectorStore
    from qdrant_client import QdrantClient

    held: list[Any] = []

    def opened() -> Any:
        if held:
            held.pop().close()  # a folder has one client
        held.append(QdrantClient(path=str(folder)))
        return QdrantVectorStore("harbour", client=held[0])

    return opened


STORES = {"chroma": chroma, "qdrant": qdrant}


@pytest.fixture(scope="module", params=sorted(STORES))
def store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Store:
    if (
        find_spec("llama_index.vector_stores") is None
        or find_spec(f"llama_index.vector_stores.{request.param}") is None
    ):
        pytest.skip(f"llama-index-vector-stores-{request.param} is not installed")
    opened = STORES[request.param](tmp_path_factory.mktemp(request.param))
    nodes = [TextNode(text=text, metadata={"name": name, "town": town}) for name, (town, text) in TEXTS.items()]
    context = StorageContext.from_defaults(vector_store=opened())
    index = VectorStoreIndex(nodes, storage_context=context, embed_model=IntrinsicsEmbedding())
    return Store(index, lambda: VectorStoreIndex.from_vector_store(opened(), embed_model=IntrinsicsEmbedding()))


def names(found: list[NodeWithScore]) -> list[str]:
    return [item.node.metadata["name"] for item in found]


def test_the_shipped_embedder_finds_by_meaning_also_after_a_reload(store: Store) -> None:
    before = store.index.as_retriever(similarity_top_k=3).retrieve(QUESTION)
    assert names(before)[0] == "mill"
    scores = [item.score or 0.0 for item in before]
    assert scores == sorted(scores, reverse=True)  # LlamaIndex makes similarities of distances
    store.index = store.again()
    assert names(store.index.as_retriever(similarity_top_k=3).retrieve(QUESTION)) == names(before)


def test_a_filter_and_the_reranker_behind(store: Store) -> None:
    town = MetadataFilters(filters=[ExactMatchFilter(key="town", value="south")])
    retriever = IntrinsicsRetriever(store.index.as_retriever(similarity_top_k=4, filters=town))
    found = retriever.retrieve(QUESTION)
    assert sorted(names(found)) == ["cranes", "fog", "ticket"]
    ranked = IntrinsicsRerank(top_n=1).postprocess_nodes(found, query_str="What does the museum cost?")
    assert names(ranked) == ["ticket"]


def test_a_rewriter_in_front_and_a_gate_behind(store: Store) -> None:
    history = [ChatMessage("Is there a tide mill?"), ChatMessage("Yes, at the harbour.", role="assistant")]
    retriever = IntrinsicsRetriever(store.index.as_retriever(similarity_top_k=2), rewriter=QueryRewriteTransform())
    assert names(retriever.retrieve(ConversationQuery("Who built it?", chat_history=history)))[0] == "mill"
    gate = AnswerabilityGate(MockLLM(max_tokens=8), canned="The archive does not say.")
    engine = RetrieverQueryEngine(retriever, gate)
    assert str(engine.query("How many umbrellas does the bakery sell?")) == "The archive does not say."
    assert str(engine.query("Who built the tide mill?")) != "The archive does not say."
