"""Haystack: a pipeline that ranks, answers only what the documents answer, and checks and cites the answer."""

from haystack import Document, Pipeline
from haystack.components.builders import ChatPromptBuilder
from haystack.components.generators.chat import MockChatGenerator
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from haystack.dataclasses import ChatMessage
from haystack.document_stores.in_memory import InMemoryDocumentStore
from haystack_integrations.components.rankers.rag_intrinsics import RagIntrinsicsRanker
from haystack_integrations.components.routers.rag_intrinsics import RagIntrinsicsAnswerabilityRouter
from haystack_integrations.components.validators.rag_intrinsics import RagIntrinsicsAnswerCheck

store = InMemoryDocumentStore()
store.write_documents([Document(content="Ada Brink built the mill in 1911.", id="mill")])
template = [ChatMessage.from_user("{% for d in documents %}{{ d.content }} {% endfor %}{{ query }}")]
rag = Pipeline()
for name, part in {
    "retriever": InMemoryBM25Retriever(store),
    "ranker": RagIntrinsicsRanker(top_k=3),
    "router": RagIntrinsicsAnswerabilityRouter(),
    "prompt": ChatPromptBuilder(template, required_variables="*"),
    "generator": MockChatGenerator(["Ada Brink built it in 1911."]),  # yours in its place
    "check": RagIntrinsicsAnswerCheck(),
}.items():
    rag.add_component(name, part)
for sender, receiver in [
    ("retriever", "ranker.documents"), ("ranker.documents", "router.documents"),
    ("router.answerable", "prompt.documents"), ("prompt", "generator.messages"),
    ("generator.replies", "check.replies"), ("router.answerable", "check.documents"),
]:  # fmt: skip
    rag.connect(sender, receiver)
for question in ("Who built the mill?", "How many umbrellas are there?"):
    found = rag.run({name: {"query": question} for name in ("retriever", "ranker", "router", "prompt", "check")})
    answer = found["check"]["replies"][0].text if "replies" in found.get("check", {}) else "The documents do not say."
    print(answer)
