"""A user's program with the calls that the documentation shows. `.ci/run` checks its types; a test runs it."""

from __future__ import annotations

from typing import Any

from llama_index.core import QueryBundle, VectorStoreIndex
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.chat_engine import CondenseQuestionChatEngine
from llama_index.core.llms import ChatMessage, MockLLM
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import NodeWithScore, TextNode
from llama_index.embeddings.rag_intrinsics import IntrinsicsEmbedding
from llama_index.evaluation.rag_intrinsics import IntrinsicEvaluator
from llama_index.postprocessor.rag_intrinsics import ContextRelevancePostprocessor, IntrinsicsRerank
from llama_index.query_transform.rag_intrinsics import QueryExpansionTransform, QueryRewriteTransform
from llama_index.rag_intrinsics import ConversationQuery
from llama_index.response_synthesizers.rag_intrinsics import AnswerabilityGate, AnswerCheck, Reviser
from llama_index.retrievers.rag_intrinsics import IntrinsicsRetriever

MILL = "Ada Brink built the tide mill in 1911."
QUESTION = "Who built the tide mill?"
NODES = [TextNode(id_="mill", text=MILL), TextNode(id_="fog", text="Fog is common from March to May.")]


def searching() -> BaseRetriever:
    return VectorStoreIndex(NODES, embed_model=IntrinsicsEmbedding()).as_retriever(similarity_top_k=2)


def retrieve() -> list[NodeWithScore]:
    history = [ChatMessage("Tell me about the mill."), ChatMessage("It stands at the harbour.", role="assistant")]
    retriever = IntrinsicsRetriever(
        searching(), rewriter=QueryRewriteTransform(on_error="fallback"), expander=QueryExpansionTransform()
    )
    found: list[NodeWithScore] = retriever.retrieve(ConversationQuery("Who built it?", chat_history=history))
    ranked = IntrinsicsRerank(top_n=1, mode="pointwise").postprocess_nodes(found, QueryBundle(QUESTION))
    return ContextRelevancePostprocessor(labels=["relevant"]).postprocess_nodes(ranked, QueryBundle(QUESTION))


def answer() -> list[str]:
    gate = AnswerabilityGate(MockLLM(max_tokens=8), check="audit", canned="The archive does not say.", mode="block")
    engine = AnswerCheck().as_query_engine(RetrieverQueryEngine(searching(), gate))
    response = engine.query(QUESTION)
    told: dict[str, Any] = (response.metadata or {})["rag_intrinsics"]
    chat = CondenseQuestionChatEngine.from_defaults(engine, llm=MockLLM(max_tokens=8))
    reply = chat.chat("Which umbrellas does the bakery sell?")
    said = RetrieverQueryEngine.from_args(searching(), llm=MockLLM(max_tokens=8)).query(QUESTION)
    annotated = AnswerCheck(["citations", "hallucination-detection"]).check(QUESTION, said)
    revised = Reviser().revise(QUESTION, said)
    return [",".join(sorted(told)), str(reply), str(bool(annotated.metadata)), type(revised).__name__]


def evaluate() -> list[bool | None]:
    results = []
    for intrinsic in ("hallucination-detection", "fact-check", "uncertainty", "answerability", "evaluate"):
        evaluator = IntrinsicEvaluator(intrinsic)
        results.append(evaluator.evaluate(query=QUESTION, response=MILL, contexts=[MILL]).passing)
    return results


if __name__ == "__main__":
    print(retrieve(), answer(), evaluate())
