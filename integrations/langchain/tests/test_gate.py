"""The answerability gate."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

import pytest
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.runnables import RunnableLambda, RunnablePassthrough
from langchain_rag_intrinsics import (
    AnswerabilityGate,
    AnswerCheck,
    ContextRelevanceFilter,
    IntrinsicsReranker,
    IntrinsicsRetriever,
)
from pydantic import BaseModel

from integrations.langchain.tests.scripts import FAITHFUL, QUESTION, documents, judging
from intrinsics_core import InvalidInput
from intrinsics_core.protocol.results import Answerability
from tests.contract.scripts import no_judge

YES = {"question": QUESTION, "documents": documents(), "more": 1}
WITHOUT_MORE = {"question": QUESTION, "documents": documents()}
NO = {"question": "Which umbrellas does the bakery sell?", "documents": documents()}


def test_the_input_passes_with_the_verdict() -> None:
    for given, label in ((YES, "answerable"), (NO, "unanswerable")):
        before = dict(given)
        found = AnswerabilityGate(runtime=judging()).invoke(given)
        assert found["answerability"]["label"] == label
        assert {key: found[key] for key in given} == given == before
        assert asyncio.run(AnswerabilityGate(runtime=judging()).ainvoke(given)) == found


def routed(**routes: Any) -> AnswerabilityGate:
    return AnswerabilityGate(runtime=judging(), **routes)


def test_routes() -> None:
    gate = routed(answerable=lambda x: f"yes: {x['more']}", otherwise="Not in the documents.")
    assert gate.invoke(YES) == "yes: 1"
    found = gate.invoke(NO)
    assert {**found, "answer": None} == {**NO, "answer": None, "answerability": found["answerability"]}
    assert found["answer"].text == "Not in the documents."
    assert found["answer"].response_metadata["rag_intrinsics"]["answerability"]["label"] == "unanswerable"
    assert asyncio.run(gate.ainvoke(NO)) == found
    assert gate.batch([YES, NO]) == ["yes: 1", found]


def test_a_route_gets_the_verdict_and_its_message_is_signed() -> None:
    def write(x: Any) -> AIMessage:
        assert x["answerability"]["label"] == "unanswerable"
        return AIMessage("No.", response_metadata={"rag_intrinsics": {"mine": 1}})

    found = routed(otherwise=RunnableLambda(write)).invoke(NO)
    assert set(found.response_metadata["rag_intrinsics"]) == {"mine", "answerability"}


@pytest.mark.parametrize(("settings", "way"), [({}, "otherwise"), ({"block_unsure": False}, "answerable")])
def test_an_unsure_verdict_stops_a_question_unless_asked_otherwise(settings: dict[str, Any], way: str) -> None:
    never = {"kind": "embedded", "thresholds": {"answerability": {"answerable": 0.99}}}  # nothing is as sure as that
    gate = AnswerabilityGate(
        runtime=never, answerable=lambda x: ["answerable", x], otherwise=lambda x: ["otherwise", x], **settings
    )
    taken, passed = gate.invoke(YES)
    assert taken == way == asyncio.run(gate.ainvoke(YES))[0] == next(gate.stream(YES))[0]
    assert (passed["answerability"]["label"], passed["answerability"]["unsure"]) == ("unanswerable", True)


def test_a_function_that_answers_an_unsure_question_gives_its_own_text() -> None:
    never = {"kind": "embedded", "thresholds": {"answerability": {"answerable": 0.99}}}
    gate = AnswerabilityGate(runtime=never, answerable=lambda x: FAITHFUL, block_unsure=False)
    assert gate.invoke(YES) == "".join(gate.stream(YES)) == FAITHFUL


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_route_that_streams_streams_on(asynchronous: bool) -> None:
    writer = RunnableLambda(lambda x: x["question"]) | GenericFakeChatModel(messages=iter([FAITHFUL]))
    gate = routed(answerable=writer, otherwise="No.")

    async def collect(given: Any) -> list[Any]:
        return [chunk async for chunk in gate.astream(given)]

    chunks = asyncio.run(collect(YES)) if asynchronous else list(gate.stream(YES))
    assert len(chunks) > 5
    total = chunks[0]
    for chunk in chunks[1:]:
        total = total + chunk
    assert isinstance(total, AIMessageChunk)
    assert total.text == FAITHFUL
    assert total.response_metadata["rag_intrinsics"]["answerability"]["label"] == "answerable"
    assert chunks[-1].chunk_position == "last"
    (canned,) = asyncio.run(collect(NO)) if asynchronous else gate.stream(NO)
    assert canned["answer"].text == "No."


@pytest.mark.parametrize(("on_error", "text"), [("open", "in"), ("closed", "out")])
def test_a_failure_goes_where_the_caller_said(on_error: str, text: str) -> None:
    down = no_judge()
    found = AnswerabilityGate(
        runtime=down,
        on_error=on_error,
        answerable=RunnablePassthrough.assign(answer=lambda x: AIMessage("in")),
        otherwise="out",
    ).invoke(YES)
    assert found["answer"].text == text
    assert "refused" in found["answerability"]["degraded"]


@dataclass
class DataState:
    question: str
    documents: list[Any]


class ModelState(BaseModel):
    question: str
    documents: list[Any]


@pytest.mark.parametrize("state", [DataState, ModelState])
@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_state_that_is_no_mapping_passes_as_its_fields(state: Any, asynchronous: bool) -> None:
    given, gate = state(QUESTION, documents()) if state is DataState else state(**WITHOUT_MORE), routed(otherwise="No.")
    found = asyncio.run(gate.ainvoke(given)) if asynchronous else gate.invoke(given)
    assert found == {**WITHOUT_MORE, "answerability": found["answerability"]}
    assert list(gate.stream(given)) == [found]


@pytest.mark.parametrize("asynchronous", [False, True])
def test_documents_of_an_iterator_are_handed_on(asynchronous: bool) -> None:
    def given() -> dict[str, Any]:
        return {"question": QUESTION, "documents": filter(None, documents())}

    for gate in (routed(), routed(answerable=RunnablePassthrough())):
        found = asyncio.run(gate.ainvoke(given())) if asynchronous else gate.invoke(given())
        assert found["documents"] == documents()
        assert next(gate.stream(given()))["documents"] == documents()
    retrieve, answer = (RunnablePassthrough.assign(documents=lambda x: iter(documents())),
                        RunnablePassthrough.assign(answer=lambda x: FAITHFUL))  # fmt: skip
    chain = retrieve | routed() | answer | AnswerCheck(runtime=judging())
    for found in (chain.invoke({"question": QUESTION}), *pieces(chain, asynchronous)):
        assert found.response_metadata["rag_intrinsics"]["audit"]["label"] == "faithful"


def pieces(chain: Any, asynchronous: bool) -> list[Any]:
    """What a chain's pieces make together."""

    async def collect() -> list[Any]:
        return [piece async for piece in chain.astream({"question": QUESTION})]

    found = asyncio.run(collect()) if asynchronous else list(chain.stream({"question": QUESTION}))
    total = found[0]
    for piece in found[1:]:
        total = total + piece
    return [total]


def test_whole_result() -> None:
    gate = AnswerabilityGate(runtime=judging(), return_result=True, otherwise="No.", answerable=lambda x: 1)
    assert isinstance(gate.invoke(NO), Answerability)
    assert isinstance(gate.invoke(YES), Answerability)
    assert [type(x) for x in gate.stream(YES)] == [Answerability]


def test_what_is_no_setting_and_no_route_is_named() -> None:
    with pytest.raises(InvalidInput, match=r"Gate has no setting of that name \(did you mean 'otherwise'"):
        AnswerabilityGate(otherwize="No.")
    with pytest.raises(InvalidInput, match="did you mean 'top_n'"):
        IntrinsicsReranker(top_k=3)
    for make, name in ((AnswerabilityGate, "otherwise"), (IntrinsicsRetriever, "retriever")):
        with pytest.raises(ValueError, match=f"{name}\n.*expected a Runnable or a function; got int"):
            make(**{name: 3})


@pytest.mark.parametrize(
    ("turn", "passes"),
    [("Thanks a lot!", True), ("Can you repeat that?", True), ("Which umbrellas does the bakery sell?", False)],
)
def test_a_turn_that_asks_nothing_passes_behind_a_filter(turn: str, passes: bool) -> None:
    kept = list(ContextRelevanceFilter().compress_documents(documents(), turn))
    found = AnswerabilityGate(otherwise="NO").invoke({"question": turn, "documents": kept})
    assert not kept and ("answer" not in found) == passes
