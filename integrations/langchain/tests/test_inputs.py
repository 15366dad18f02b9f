"""What components take, and what they say about what they do not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, AIMessageChunk, ChatMessage, HumanMessage, SystemMessage
from langchain_core.prompt_values import ChatPromptValue
from langchain_rag_intrinsics import AnswerabilityGate, AnswerCheck, IntrinsicsReranker, QueryRewriter
from langchain_rag_intrinsics._messages import read

from integrations.langchain.tests.scripts import FAITHFUL, QUESTION, detecting, documents, judging
from intrinsics_core import InvalidInput

HISTORY = [HumanMessage("Tell me about the mill."), AIMessage("It is a tide mill.")]
WHOLE = [
    {"role": "user", "content": "Tell me about the mill."},
    {"role": "assistant", "content": "It is a tide mill."},
    {"role": "user", "content": QUESTION},
]


@pytest.mark.parametrize(
    "value",
    [
        [*HISTORY, HumanMessage(QUESTION)],
        ChatPromptValue(messages=[*HISTORY, HumanMessage(QUESTION)]),
        [("human", "Tell me about the mill."), ("ai", "It is a tide mill."), {"role": "user", "content": QUESTION}],
        {"messages": [*HISTORY, HumanMessage(QUESTION)]},
        {"question": QUESTION, "chat_history": HISTORY},
        {"input": QUESTION, "chat_history": HISTORY},
        {"query": HumanMessage(QUESTION), "history": HISTORY},
        {"messages": [*HISTORY, HumanMessage(QUESTION)], "question": QUESTION},
        {"messages": HISTORY, "question": QUESTION, "chat_history": [HumanMessage("not this one")]},
        {"messages": [*HISTORY, HumanMessage(QUESTION)], "answer": "of the turn before"},
    ],
)
def test_all_shapes_are_one_conversation(value: Any) -> None:
    assert read(value, "query-rewrite").messages == WHOLE


def test_a_question_alone() -> None:
    for value in (QUESTION, HumanMessage(QUESTION), {"question": QUESTION}):
        assert read(value, "query-rewrite").messages == WHOLE[-1:]


def test_roles() -> None:
    turns = [
        SystemMessage("a"),
        HumanMessage([{"type": "text", "text": "b"}, {"type": "image", "url": "https://x.example/i.png"}]),
        AIMessageChunk(content="c"),
        ChatMessage("e", role="developer"),
    ]
    assert [(m["role"], m["content"]) for m in read(turns, "x").messages] == [
        ("system", "a"),
        ("user", "b"),
        ("assistant", "c"),
        ("developer", "e"),
    ]


def test_documents_and_answers() -> None:
    given = read(
        {"question": QUESTION, "context": ["one", Document("two", id="2")], "response": FAITHFUL}, "fact-check"
    )
    assert given.passages == [
        {"text": "one", "id": None, "title": None, "score": None, "metadata": {}},
        {"text": "two", "id": "2", "title": None, "score": None, "metadata": {}},
    ]
    assert given.answer == AIMessage(FAITHFUL)
    assert [d.page_content for d in read({"question": "q", "context": "stuffed"}, "x").documents] == ["stuffed"]


@pytest.mark.parametrize(
    "answer",
    [
        ("assistant", FAITHFUL),
        {"role": "assistant", "content": FAITHFUL},
        {"type": "ai", "content": FAITHFUL},
        {"role": "assistant", "content": [{"type": "text", "text": FAITHFUL}]},
    ],
)
def test_an_answer_as_a_message_in_other_forms(answer: Any) -> None:
    given = {"question": {"role": "user", "content": QUESTION}, "documents": documents(), "answer": answer}
    turns = read(given, "fact-check").messages
    assert turns == [WHOLE[-1], {"role": "assistant", "content": FAITHFUL}]
    found = AnswerCheck(runtime=judging()).invoke(given)
    assert found.text == FAITHFUL and found.response_metadata["rag_intrinsics"]["audit"]["label"] == "faithful"
    for other in ({"role": "user", "content": FAITHFUL}, ("human", FAITHFUL), ()):
        with pytest.raises(InvalidInput, match="answer"):
            read({**given, "answer": other}, "fact-check")


def test_an_object_whose_fields_are_called_like_a_messages_is_structured() -> None:
    given = {"question": "q", "documents": [], "answer": {"role": "engineer", "content": "Ada Brink"}}
    answer = read(given, "fact-check").answer
    assert answer is not None and answer.text.splitlines() == ["role: engineer", "content: Ada Brink"]


@pytest.mark.parametrize("context", ["", " \n", [], ()])
def test_a_context_without_words_is_no_document(context: Any) -> None:
    judged = detecting().invoke({"question": "q", "context": context, "answer": "A."})
    assert (judged.label, judged.reason) == ("NA", "nothing retrieved")


@pytest.mark.parametrize(
    ("metadata", "scores"),
    [
        ([{"relevance_score": 0.5}, {"relevance_score": 1}], [0.5, 1.0]),
        ([{"score": np.float32(0.5)}, {"score": np.int64(2)}], [0.5, 2.0]),
        ([{"relevance_score": 0.5, "score": 7.0}, {"relevance_score": 0.25, "score": 9.0}], [0.5, 0.25]),
        ([{"relevance_score": 0.5, "score": 7.0}, {"score": 9.0}], [7.0, 9.0]),  # one scale for all
        ([{"relevance_score": 0.5}, {"score": 9.0}], [None, None]),
        ([{"score": 1.0}, {}], [None, None]),
        ([{"score": 1.0}, {"score": float("nan")}], [None, None]),
        ([{"score": 1.0}, {"score": -float("inf")}], [None, None]),
        ([{"score": 1.0}, {"score": 10**400}], [None, None]),
        ([{"score": 1.0}, {"score": True}], [None, None]),
        ([{"score": 1.0}, {"score": "2.0"}], [None, None]),
    ],
)
def test_scores_of_the_retriever(metadata: list[dict[str, Any]], scores: list[float | None]) -> None:
    given = [Document(str(i), metadata=m) for i, m in enumerate(metadata)]
    assert [passage["score"] for passage in read({"question": "q", "documents": given}, "x").passages] == scores


@pytest.mark.parametrize("name", ["relevance_score", "score"])
def test_a_good_retrievers_order_counts(name: str) -> None:
    found = [Document("The mill is a tide mill.", id=name) for name in ("east", "west")]

    def ranked(scores: list[float], **options: Any) -> tuple[list[str | None], list[float], str | None]:
        scored = [d.model_copy(update={"metadata": {name: s}}) for d, s in zip(found, scores, strict=True)]
        documents = IntrinsicsReranker(**options).compress_documents(scored, "The mill?")
        way = documents[0].metadata.get("reranking_prior")
        return [d.id for d in documents], [d.metadata["relevance_score"] for d in documents], way

    ids, scores, prior = ranked([9.0, 1.0])
    assert (ids, prior) == (["east", "west"], "higher is better") and scores[0] > scores[1]
    ids, scores, prior = ranked([0.2, 0.7])  # rising: distances, as FAISS and Chroma give them
    assert (ids, prior) == (["east", "west"], "lower is better") and scores[0] > scores[1]
    assert ranked([1.0, 9.0], prior="higher")[0] == ["west", "east"]
    ids, scores, prior = ranked([9.0, 1.0], prior=None)
    assert (ids, prior) == (["east", "west"], None) and scores[0] == scores[1]


@pytest.mark.parametrize(
    ("component", "value", "field"),
    [
        (QueryRewriter, {}, "messages"),
        (QueryRewriter, {"documents": []}, "question"),
        (QueryRewriter, 3, "input"),
        (QueryRewriter, [], "messages"),
        (QueryRewriter, {"messages": [object()]}, "messages"),
        (QueryRewriter, {"question": 5}, "question"),
        (QueryRewriter, HISTORY, "role"),
        (QueryRewriter, "  ", "content"),
        (AnswerabilityGate, {"question": QUESTION}, "documents"),
        (AnswerabilityGate, {"question": QUESTION, "documents": [3]}, "documents[0]"),
        (AnswerabilityGate, {"question": QUESTION, "documents": {"a": 1}}, "documents"),
        (AnswerabilityGate, {"question": QUESTION, "documents": None}, "documents"),
        (AnswerabilityGate, QUESTION, "documents"),
        (IntrinsicsReranker, {"documents": documents()}, "question"),
        (AnswerCheck, {"question": QUESTION, "documents": documents()}, "'generation'"),
        (AnswerCheck, {"question": QUESTION, "documents": documents(), "answer": 3}, "answer"),
    ],
)
def test_bad_input_names_the_field(component: Any, value: Any, field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        component(runtime=judging()).invoke(value)
    assert field in str(caught.value)
    assert caught.value.intrinsic == component.intrinsic


def test_a_bad_runtime_is_named_without_its_key() -> None:
    with pytest.raises(InvalidInput, match=r"runtime\.kind") as caught:
        QueryRewriter(runtime={"kind": "serve", "api_key": "sk-hidden"}).invoke(QUESTION)
    assert "sk-hidden" not in str(caught.value)
