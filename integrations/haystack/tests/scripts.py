"""Documents, runtimes and pieces of pipelines for the tests."""

from typing import Any

from haystack import Document
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from haystack.document_stores.in_memory import InMemoryDocumentStore

from tests.contract.judge import judge
from tests.scripted import Scripted

QUESTION = "Who built the mill, and when?"
FAITHFUL = "Ada Brink built the mill in 1911."
INVENTED = "The bakery sold purple umbrellas."


def documents() -> list[Document]:
    return [
        Document(id="cranes", content="Port Ellery has two cranes.", meta={"page": 3}),
        Document(
            id="mill",
            content="The tide mill stands on the east quay. Ada Brink built the mill in 1911.",
            meta={"page": 7, "title": "The mill"},
            score=0.25,
        ),
        Document(id="fog", content="Fog is common from March to May."),
    ]


def judging() -> Scripted:
    return Scripted(judge)


def retriever(found: list[Document] | None = None, **settings: Any) -> InMemoryBM25Retriever:
    store = InMemoryDocumentStore()
    store.write_documents(documents() if found is None else found)
    return InMemoryBM25Retriever(store, **settings)
