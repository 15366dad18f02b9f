"""The story told by LangChain: a chain of the kind that people have, with our components in their places."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from langchain_core.documents import Document
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import Runnable, RunnableLambda, RunnablePassthrough
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_rag_intrinsics import (
    AnswerabilityGate,
    AnswerCheck,
    ContextRelevanceFilter,
    IntrinsicsEmbeddings,
    IntrinsicsReranker,
    QueryRewriter,
)

from intrinsics_core.demo.story import (
    CHECKS,
    KEPT,
    RETRIEVED,
    Question,
    Said,
    Story,
    answer_from,
    rankings_of,
    turns,
    verdicts_of,
)
from intrinsics_core.protocol import task as conversation
from intrinsics_core.protocol.results import Answerability, QueryRewrite
from intrinsics_core.render.trace import Turn
from intrinsics_core.runtimes import Runtime

Assign = RunnablePassthrough.assign


def searching(documents: Sequence[Document], k: int = RETRIEVED) -> Runnable[str, list[Document]]:
    """The passages nearest to the query in LangChain's in-memory store, over the encoder that ships.

    Each with the store's score: the reranker lets it take part.
    """
    store = InMemoryVectorStore.from_documents(list(documents), IntrinsicsEmbeddings())

    def search(query: str) -> list[Document]:
        found = store.similarity_search_with_score(query, k=k)
        return [d.model_copy(update={"metadata": {**d.metadata, "score": score}}) for d, score in found]

    return RunnableLambda(search)


def chain(documents: Sequence[conversation.Document], refusal: str, runtime: Runtime) -> Runnable[Any, Any]:
    """From ``{"question", "chat_history", "invented"}`` to all that was found on the way and, last, the answer."""
    corpus = [Document(d.text, id=d.id, metadata={"title": d.title}) for d in documents]
    with_it: dict[str, Any] = {"runtime": runtime}

    retrieve = RunnableLambda(_for_retrieval) | searching(corpus)
    rerank = RunnableLambda(_over("retrieved")) | IntrinsicsReranker(**with_it)
    relevant = RunnableLambda(_over("reranked")) | ContextRelevanceFilter(**with_it)
    answer = (
        Assign(documents=_context)
        | Assign(answer=answerer(runtime) | RunnableLambda(AIMessage))
        | Assign(answer=RunnableLambda(_with_invention))
        | Assign(answer=AnswerCheck(checks=CHECKS, **with_it))
    )
    # Both of its exits give the state with an answer.
    gate = AnswerabilityGate(answerable=answer, otherwise=refusal, **with_it)
    return (
        Assign(rewrite=QueryRewriter(return_result=True, **with_it))
        | RunnableLambda(_standing_alone)
        | Assign(retrieved=retrieve)
        | Assign(reranked=rerank)
        | Assign(relevant=relevant)
        | Assign(documents=lambda state: state["reranked"][:KEPT])
        | gate
    )


def _standing_alone(state: dict[str, Any]) -> dict[str, Any]:
    """From here on the rewritten question is the question, and the history has served."""
    rewrite: QueryRewrite = state["rewrite"]
    return {"question": rewrite.query, "rewrite": rewrite, "invented": state["invented"]}


def _for_retrieval(state: dict[str, Any]) -> str:
    rewrite: QueryRewrite = state["rewrite"]
    return rewrite.retrieval_query


def _context(state: dict[str, Any]) -> list[Document]:
    """What the answer may rest on: the relevant passages, or the best ones where the gate saw more than the filter."""
    relevant: list[Document] = state["relevant"][:KEPT]
    return relevant or list(state["documents"])


def _over(documents: str) -> Any:
    return lambda state: {"question": state["question"], "documents": state[documents]}


def _with_invention(state: dict[str, Any]) -> AIMessage:
    return AIMessage(" ".join(filter(None, (state["answer"].text, state["invented"]))))


def answerer(runtime: Runtime) -> Runnable[Any, str]:
    """From ``{"question", "documents"}`` to an answer: by the runtime's language model, or by quoting."""
    return RunnableLambda(lambda state: answer_from(runtime, state["question"], [*map(_document, state["documents"])]))


def play(
    tale: Story, questions: Sequence[Question], documents: Sequence[conversation.Document], runtime: Runtime
) -> Iterator[Turn]:
    """Ask the questions in one conversation; each turn as it ends."""
    asked = chain(documents, tale.refusal, runtime)

    def tell(question: Question, said: Said) -> Turn:
        history = [message for q, answer in said for message in (HumanMessage(q), AIMessage(answer))]
        given = {"question": question.ask, "chat_history": history, "invented": question.invented}
        return _turn(question, asked.invoke(given))

    return turns(questions, tell)


def _turn(question: Question, state: dict[str, Any]) -> Turn:
    """What the chain left in documents and metadata, as results again."""
    answer: AIMessage = state["answer"]
    gate = Answerability.model_validate(state["answerability"])
    reranked, relevant = ([(str(d.id), d.metadata) for d in state[name]] for name in ("reranked", "relevant"))
    return Turn(
        question=question.ask,
        remark=question.remark,
        answer=str(answer.text),
        rewrite=state["rewrite"],
        retrieved=tuple(map(_document, state["retrieved"])),
        **rankings_of([str(d.id) for d in state["retrieved"]], reranked, relevant),
        kept=tuple(map(_document, _context(state))) if gate.answerable else (),
        gate=gate,
        blocked=not gate.answerable,
        **verdicts_of(answer.response_metadata.get("rag_intrinsics", {})),
    )


def _document(document: Document) -> conversation.Document:
    title, score = document.metadata.get("title"), document.metadata.get("score")
    return conversation.Document(document.page_content, id=document.id, title=title, score=score)
