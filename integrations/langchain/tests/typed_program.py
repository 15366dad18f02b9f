"""A user's program with the calls that the documentation shows. `.ci/run` checks its types; a test runs it."""

from __future__ import annotations

from langchain_core.documents import Document
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.runnables import RunnableLambda, RunnablePassthrough
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_rag_intrinsics import (
    AnswerabilityGate,
    AnswerabilityMiddleware,
    AnswerCheck,
    ContextRelevanceFilter,
    GroundednessMiddleware,
    IntrinsicsEmbeddings,
    IntrinsicsReranker,
    IntrinsicsRetriever,
    QueryExpander,
    QueryRewriter,
    Reviser,
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


def answer() -> AIMessage:
    model = FakeListChatModel(responses=[MILL])
    chain = RunnablePassthrough.assign(documents=RunnableLambda(lambda given: store().similarity_search(QUESTION, k=1)))
    answered = RunnablePassthrough.assign(answer=lambda given: model.invoke(str(given["documents"])))
    gate = AnswerabilityGate(answerable=answered, otherwise="The documents do not say.", on_error="closed")
    told: AIMessage = (chain | gate | AnswerCheck()).invoke({"question": QUESTION})
    return told


def judge() -> list[str]:
    given = {"question": QUESTION, "documents": [MILL], "answer": f"{MILL} It burned down in 1954."}
    message: AIMessage = AnswerCheck(checks="hallucination-detection").invoke(given)
    cited: AIMessage = AnswerCheck(checks="citations", citations="postfix").invoke(given)
    revised: AIMessage = Reviser().invoke(given)
    audited: AIMessage = AnswerCheck(live=False).invoke(given)
    several = AnswerCheck(checks=["uncertainty", "fact-check", "evaluate"], options={"fact-check": {"top_k": 3}},
                          metadata_fields=["year"], runtime={"kind": "embedded"})  # fmt: skip
    several.with_config(run_name="judge").invoke(given)
    blocked: AIMessage = AnswerCheck(mode="block", labels="unfaithful", text="No.").invoke(given)
    return [str(each.text) for each in (message, cited, revised, audited, blocked)]


def agent() -> str:
    from langchain.agents import create_agent

    watching = [AnswerabilityMiddleware(mode="annotate"), GroundednessMiddleware(mode="retry", labels="unfaithful")]
    state = create_agent(FakeListChatModel(responses=["Hello!"]), middleware=watching).invoke(
        {"messages": [HumanMessage("Hello")]}
    )
    return str(state["messages"][-1].text)


if __name__ == "__main__":
    print(search(), answer(), judge(), agent())
