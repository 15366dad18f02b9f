"""Documents, runtimes and pieces of pipelines for the tests."""

from typing import Any

from haystack import Document, Pipeline
from haystack.components.builders import AnswerBuilder, ChatPromptBuilder
from haystack.components.generators.chat import MockChatGenerator
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from haystack.dataclasses import ChatMessage
from haystack.document_stores.in_memory import InMemoryDocumentStore
from haystack_integrations.components.query.rag_intrinsics import RagIntrinsicsQueryRewriter
from haystack_integrations.components.rankers.rag_intrinsics import RagIntrinsicsRanker
from haystack_integrations.components.routers.rag_intrinsics import RagIntrinsicsAnswerabilityRouter
from haystack_integrations.components.validators.rag_intrinsics import RagIntrinsicsAnswerCheck

from tests.contract.scripts import FAITHFUL, INVENTED, PASSAGES, QUESTION, judging

__all__ = ["FAITHFUL", "INVENTED", "QUESTION", "chat", "documents", "judging", "retriever"]


def documents() -> list[Document]:
    scores = {"mill": 0.25}
    return [Document(id=name, content=text, meta={**meta}, score=scores.get(name)) for name, text, meta in PASSAGES]


def retriever(found: list[Document] | None = None, **settings: Any) -> InMemoryBM25Retriever:
    store = InMemoryDocumentStore()
    store.write_documents(documents() if found is None else found)
    return InMemoryBM25Retriever(store, **settings)


def chat(
    generator: Any = None, runtime: Any = None, *, found: Any = None, stream: Any = None, **check: Any
) -> Pipeline:
    """A pipeline as people wire it: rewrite, retrieve, rank, route, answer, check, build.

    Args:
        generator: writes the answer; what it says, or a component.
        found: what the retriever has in store.
        stream: how a check before the generator passes chunks on; None: there is none.
        check: settings of the check behind it.
    """
    template = ["{% for d in documents %}{{ d.content }} {% endfor %}{{ query }}"]
    parts: dict[str, Any] = {
        "rewriter": RagIntrinsicsQueryRewriter(runtime),
        "retriever": retriever(found),
        "ranker": RagIntrinsicsRanker(runtime, top_k=2),
        "router": RagIntrinsicsAnswerabilityRouter(runtime),
        "prompt": ChatPromptBuilder(list(map(ChatMessage.from_user, template)), required_variables="*"),
        "generator": MockChatGenerator(generator or FAITHFUL) if isinstance(generator, str | None) else generator,
        "check": RagIntrinsicsAnswerCheck(runtime, **check),
        "answers": AnswerBuilder(reference_pattern=r"\[(\d+)\](?!\()"),
    }
    wires = [
        ("rewriter.retrieval_query", "retriever.query"), ("retriever", "ranker"), ("ranker", "router.documents"),
        *[("rewriter.standalone_query", f"{n}.query") for n in ("ranker", "router", "prompt", "check", "answers")],
        *[("router.answerable", f"{name}.documents") for name in ("prompt", "check", "answers")],
        ("prompt", "generator.messages"), ("generator.replies", "check.replies"), ("check.replies", "answers.replies"),
    ]  # fmt: skip
    if stream:
        parts["watch"] = RagIntrinsicsAnswerCheck(runtime, stream=stream)
        wires += [
            ("rewriter.standalone_query", "watch.query"), ("router.answerable", "watch.documents"),
            ("watch.streaming_callback", "generator.streaming_callback"),
            ("watch.streaming_callback", "check.streaming_callback"),
        ]  # fmt: skip
    pipeline = Pipeline()
    for name, part in parts.items():
        pipeline.add_component(name, part)
    for sender, receiver in wires:
        pipeline.connect(sender, receiver)
    return pipeline
