"""The story told by LangChain: a chain of the kind that people have, with our components in their places."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

from langchain_core.documents import Document
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
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

from intrinsics_core.demo.story import KEPT, QUOTED, RETRIEVED, Question, Story, generated, verdicts_of
from intrinsics_core.protocol import task as conversation
from intrinsics_core.protocol.results import (
    Answerability,
    ContextRelevance,
    Judgement,
    QueryRewrite,
    RankedDocument,
    Ranking,
)
from intrinsics_core.render.trace import Turn
from intrinsics_core.runtimes import Runtime
from intrinsics_core.text.layout import laid_out

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


CHECKS = ("citations", "hallucination-detection", "uncertainty", "fact-check")


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


# --- the answerer -------------------------------------------------------------------------------------------------


def answerer(runtime: Runtime) -> Runnable[Any, str]:
    """From ``{"question", "documents"}`` to an answer: by the runtime's language model, or by quoting."""
    if runtime.profile.name != "embedded":
        return RunnableLambda(lambda state: _generated(runtime, state))
    return RunnableLambda(_as_sentences) | IntrinsicsReranker(runtime=runtime) | RunnableLambda(_quoted)


def _as_sentences(state: dict[str, Any]) -> dict[str, Any]:
    sentences = [
        Document(span.text, id=f"{d.id}:{span.begin}", metadata={"passage": d.id, "begin": span.begin})
        for d in state["documents"]
        for span in laid_out(d.page_content)
    ]
    return {"question": state["question"], "documents": sentences}


def _quoted(sentences: Sequence[Document]) -> str:
    """The best sentence with the best other one of its passage, in the order of the passage."""
    passage = sentences[0].metadata["passage"]
    same = [s for s in sentences if s.metadata["passage"] == passage][:QUOTED]
    return " ".join(s.page_content for s in sorted(same, key=lambda s: s.metadata["begin"]))


def _generated(runtime: Runtime, state: dict[str, Any]) -> str:
    context = "\n\n".join(f"{d.metadata['title']}\n{d.page_content}" for d in state["documents"])
    return generated(runtime, state["question"], context)


# --- the story ----------------------------------------------------------------------------------------------------


def play(
    tale: Story, questions: Sequence[Question], documents: Sequence[conversation.Document], runtime: Runtime
) -> Iterator[Turn]:
    """Ask the questions in one conversation; each turn as it ends."""
    asked = chain(documents, tale.refusal, runtime)
    history: list[BaseMessage] = []
    for question in questions:
        started = time.perf_counter()
        state = asked.invoke({"question": question.ask, "chat_history": list(history), "invented": question.invented})
        yield _turn(question, state, time.perf_counter() - started)
        history += [HumanMessage(question.ask), AIMessage(state["answer"].text)]


def _turn(question: Question, state: dict[str, Any], seconds: float) -> Turn:
    """What the chain left in documents and metadata, as results again."""
    answer: AIMessage = state["answer"]
    verdicts = answer.response_metadata.get("rag_intrinsics", {})

    gate = Answerability.model_validate(state["answerability"])
    scores = {"label": "context_relevance", "score": "context_relevance_score"}
    judged = {d.id: {name: d.metadata.get(key) for name, key in scores.items()} for d in state["relevant"]}
    places = {d.id: place for place, d in enumerate(state["retrieved"])}
    irrelevant = {"label": "irrelevant", "score": None}
    ranking = [
        RankedDocument(
            document_id=str(d.id),
            index=places[d.id],
            **{name: d.metadata.get(f"reranking_{name}") for name in ("rank", "score", "wins")},
        )
        for d in state["reranked"]
    ]
    return Turn(
        question=question.ask,
        remark=question.remark,
        answer=str(answer.text),
        rewrite=state["rewrite"],
        retrieved=tuple(map(_document, state["retrieved"])),
        ranking=Ranking(ranking=tuple(ranking)),
        relevance=ContextRelevance(
            judgements=tuple(
                Judgement(document_id=str(d.id), **judged.get(d.id, irrelevant) | {"index": place})
                for place, d in enumerate(state["reranked"])
            )
        ),
        kept=tuple(map(_document, _context(state))) if gate.answerable else (),
        gate=gate,
        blocked=not gate.answerable,
        **verdicts_of(verdicts),
        seconds=seconds,
    )


def _document(document: Document) -> conversation.Document:
    title, score = document.metadata["title"], document.metadata.get("score")
    return conversation.Document(document.page_content, id=document.id, title=title, score=score)
