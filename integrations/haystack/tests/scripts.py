"""Documents, runtimes and pieces of pipelines for the tests."""

from typing import Any

from haystack import Document
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from haystack.document_stores.in_memory import InMemoryDocumentStore

from tests.contract.scripts import FAITHFUL, INVENTED, PASSAGES, QUESTION, judging

__all__ = ["FAITHFUL", "INVENTED", "QUESTION", "documents", "judging", "retriever"]


def documents() -> list[Document]:
    scores = {"mill": 0.25}
    return [Document(id=name, content=text, meta={**meta}, score=scores.get(name)) for name, text, meta in PASSAGES]


def retriever(found: list[Document] | None = None, **settings: Any) -> InMemoryBM25Retriever:
    store = InMemoryDocumentStore()
    store.write_documents(documents() if found is None else found)
    return InMemoryBM25Retriever(store, **settings)
