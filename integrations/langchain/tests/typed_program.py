"""A user's program with the calls that the documentation shows. `.ci/run` checks its types; a test runs it."""

from __future__ import annotations

from typing import Any

from langchain_core.documents import Document
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.runnables import RunnableLambda, RunnablePassthrough
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_rag_intrinsics import (
    AnswerabilityGate,
    AnswerabilityMiddleware,
    Audit,
    CitationGenerator,
    ContextRelevanceFilter,
    Evaluator,
    FactChecker,
    FactCheckTool,
    GroundednessMiddleware,
    HallucinationDetector,
    IntrinsicsEmbeddings,
    IntrinsicsReranker,
    IntrinsicsRetriever,
    QueryExpander,
    QueryRewriter,
    Reviser,
    UncertaintyScorer,
)

MILL = "Ada Brink built the tide mill in 1911."
QUESTION = "Who built the tide mill?"


def store() -> InMemoryVectorStore:
    vectors = InMemoryVectorStore(IntrinsicsEmbeddings())
    vectors.add_documents([Document(MILL, id="mill"), Document("Fog is common from March to May.", id="fog")])
    return vectors


def retrieving() -> IntrinsicsRetriever:
    return IntrinsicsRetriever(
        retriever=store().as_retriever(search_kwargs={"k": 2}),
        rewriter=QueryRewriter(on_error="fallback"),
        expander=QueryExpander(),
        compressors=[ContextRelevanceFilter(), IntrinsicsReranker(top_n=1, mode="pointwise", score_threshold=0.1)],
        k=4,
    )


def search() -> list[Document]:
    history: list[BaseMessage] = [HumanMessage("Tell me about the mill."), AIMessage("It stands at the harbour.")]
    found: list[Document] = retrieving().invoke([*history, HumanMessage("Who built it?")])
    return [*found, *retrieving().with_history().invoke({"input": QUESTION, "chat_history": history})]


def answer() -> dict[str, Any]:
    model = FakeListChatModel(responses=[MILL])
    chain = RunnablePassthrough.assign(documents=RunnableLambda(lambda given: store().similarity_search(QUESTION, k=1)))
    answered = RunnablePassthrough.assign(answer=lambda given: model.invoke(str(given["documents"])))
    gate = AnswerabilityGate(answerable=answered, otherwise="The documents do not say.", on_error="closed")
    told: dict[str, Any] = (chain | gate | Audit()).invoke({"question": QUESTION})
    return told


def judge() -> list[str]:
    given = {"question": QUESTION, "documents": [MILL], "answer": f"{MILL} It burned down in 1954."}
    message: AIMessage = HallucinationDetector().invoke(given)
    cited: AIMessage = CitationGenerator(citations="postfix").invoke(given)
    revised: AIMessage = Reviser().invoke(given)
    audited: dict[str, Any] = Audit(live=False).invoke(given)
    for judged in (UncertaintyScorer(), FactChecker(), Evaluator()):
        judged.with_config(run_name="judge").invoke(given)
    checker = FactChecker(metadata_fields=["year"], runtime={"kind": "embedded"})
    told: str = FactCheckTool(checker=checker).invoke({"question": QUESTION, "answer": MILL, "sources": [MILL]})
    return [str(message.text), str(cited.text), str(revised.text), told, str(audited["audit"]["label"])]


def agent() -> str:
    from langchain.agents import create_agent

    watching = [AnswerabilityMiddleware(mode="annotate"), GroundednessMiddleware(mode="block", labels="unfaithful")]
    state = create_agent(FakeListChatModel(responses=["Hello!"]), middleware=watching).invoke(
        {"messages": [HumanMessage("Hello")]}
    )
    return str(state["messages"][-1].text)


if __name__ == "__main__":
    print(search(), answer(), judge(), agent())
