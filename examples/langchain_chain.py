"""LangChain: search, rerank, refuse what the documents do not answer, and audit the answer."""

from langchain_core.documents import Document
from langchain_core.language_models import FakeListChatModel
from langchain_core.runnables import RunnablePassthrough
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_rag_intrinsics import (
    AnswerabilityGate,
    AnswerCheck,
    IntrinsicsEmbeddings,
    IntrinsicsReranker,
    IntrinsicsRetriever,
)

store = InMemoryVectorStore(IntrinsicsEmbeddings())
store.add_documents(
    [Document("Ada Brink built the mill in 1911.", id="mill"), Document("Fog is common in May.", id="fog")]
)
search = IntrinsicsRetriever(retriever=store.as_retriever(), compressors=[IntrinsicsReranker(top_n=1)])
model = FakeListChatModel(responses=["Ada Brink built it in 1911. It is made of glass."])  # yours in its place
answer = RunnablePassthrough.assign(answer=lambda given: model.invoke(str(given)))
chain = (
    RunnablePassthrough.assign(documents=lambda given: search.invoke(given["question"]))
    | AnswerabilityGate(answerable=answer, otherwise="The documents do not say.")
).assign(answer=AnswerCheck())
for question in ("Who built the mill?", "What is the speed of light?"):
    result = chain.invoke({"question": question})
    verdicts = result["answer"].response_metadata["rag_intrinsics"]
    print(result["answer"].text, [sentence["label"] for sentence in verdicts.get("audit", {}).get("sentences", [])])
