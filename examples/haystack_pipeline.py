"""Haystack: a pipeline that rewrites, retrieves, ranks, and answers only what the documents answer."""

from haystack import Document
from haystack.components.generators.chat import MockChatGenerator
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from haystack.document_stores.in_memory import InMemoryDocumentStore
from haystack_integrations.components.pipelines.rag_intrinsics import RagIntrinsicsPipeline

store = InMemoryDocumentStore()
store.write_documents([Document(content="Ada Brink built the mill in 1911.", id="mill")])
generator = MockChatGenerator(["Ada Brink built it in 1911."])  # yours in its place
rag = RagIntrinsicsPipeline(InMemoryBM25Retriever(store), generator)
for question in ("Who built the mill?", "How many umbrellas are there?"):
    print(rag.run(query=question)["answers"][0].data)
