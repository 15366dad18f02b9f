"""An agent that never searched: its answer carries a mark."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langchain.agents import AgentState, create_agent
from langchain_core.documents import Document
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_rag_intrinsics import GroundednessMiddleware

from intrinsics_core import InvalidInput

INVENTED = "She painted it gold for forty sailors."
MILL = "Ada Brink built the tide mill in 1911."


class Found(AgentState[Any]):
    found: list[str]


def last(middleware: GroundednessMiddleware, **more: Any) -> AIMessage:
    agent = create_agent(FakeListChatModel(responses=[INVENTED]), middleware=[middleware], state_schema=Found)
    message = agent.invoke({"messages": [("human", "What colour is the mill?")], **more})["messages"][-1]
    assert isinstance(message, AIMessage)
    return message


def test_what_is_done_without_retrieval_is_named() -> None:
    with pytest.raises(InvalidInput, match="unretrieved"):
        GroundednessMiddleware(unretrieved="bogus")  # type: ignore[arg-type]


def test_documents_without_text_are_nothing_to_judge_by() -> None:
    message = last(GroundednessMiddleware(mode="block", documents="found"), found=["", " "])
    told = message.response_metadata["rag_intrinsics"]["hallucination_detection"]
    assert (message.text, told["label"], told["degraded"]) == (INVENTED, "NA", "nothing retrieved")
    blocking = GroundednessMiddleware(documents="found", unretrieved="block", answer="I did not search.")
    assert last(blocking, found=[""]).text == "I did not search."


@pytest.mark.parametrize("documents", ["found", lambda state: state["found"]])
def test_documents_of_the_state_are_judged_by(documents: Any) -> None:
    message = last(GroundednessMiddleware(documents=documents), found=[MILL])
    assert message.response_metadata["rag_intrinsics"]["hallucination_detection"]["label"] == "unfaithful"


@pytest.mark.parametrize(
    ("said", "called", "blocked"),
    [
        ("Hello! How can I help you today?", False, False),
        ("I don't know.", False, False),
        ("I have sent the email to Anna.", True, False),
        ("I have sent the email to Anna.", False, True),
        (f"Hello! {INVENTED}", False, True),
    ],
)
@pytest.mark.parametrize("asynchronous", [False, True])
def test_what_claims_nothing_is_not_blocked(said: str, called: bool, blocked: bool, asynchronous: bool) -> None:
    guard = GroundednessMiddleware(unretrieved="block", answer="Blocked.")
    state: Any = {"messages": [HumanMessage("Mail Anna."), *(mail() if called else ()), AIMessage(said, id="a")]}
    update = asyncio.run(guard.aafter_agent(state, None)) if asynchronous else guard.after_agent(state, None)  # type: ignore[arg-type]
    assert update is not None
    assert update["messages"][-1].text == ("Blocked." if blocked else said)
    told = update["messages"][-1].response_metadata["rag_intrinsics"]["hallucination_detection"]
    assert called or told["degraded"] == "nothing retrieved"


def mail() -> list[Any]:
    call = {"name": "send_email", "args": {"to": "Anna"}, "id": "mail"}
    return [AIMessage("", tool_calls=[call]), ToolMessage("ok", tool_call_id="mail", name="send_email")]


@pytest.mark.parametrize(
    ("asked", "said", "mailed", "blocked"),
    [
        ("Did you send it?", "Yes, I sent the email to Anna.", True, False),
        ("Did you send it?", "Yes, I sent the email to Anna.", False, True),
        ("Did you send it to Bruno?", "Yes, I sent the email to Bruno.", True, True),
        ("Now mail Bruno.", "I have sent the email to Bruno.", True, True),
    ],
)
def test_a_report_of_what_was_done_in_an_earlier_turn_is_not_blocked(
    asked: str, said: str, mailed: bool, blocked: bool
) -> None:
    search = AIMessage("", tool_calls=[{"name": "search", "args": {}, "id": "search"}])
    found = ToolMessage("x", tool_call_id="search", artifact=[Document(MILL)])
    first = [HumanMessage("Who built it?"), search, found, AIMessage(MILL)]
    second = [HumanMessage("Mail that to Anna."), *(mail() if mailed else ()), AIMessage("Done.")]
    messages = [*first, *second, HumanMessage(asked), AIMessage(said)]
    update = GroundednessMiddleware(mode="block", answer="Blocked.").after_agent({"messages": messages}, None)  # type: ignore[arg-type, typeddict-item]
    assert update is not None
    assert update["messages"][-1].text == ("Blocked." if blocked else said)


@pytest.mark.parametrize("earlier", [False, True])
def test_what_another_tool_said_is_not_judged_by_the_documents_of_an_earlier_turn(earlier: bool) -> None:
    def call(name: str) -> AIMessage:
        return AIMessage("", tool_calls=[{"name": name, "args": {"city": "Paris"}, "id": name}])

    before = [HumanMessage("Who built it?"), call("search"),
              ToolMessage("x", tool_call_id="search", artifact=[Document(MILL)]), AIMessage(MILL)]  # fmt: skip
    weather = [call("weather"), ToolMessage("Sunny, 21 degrees.", tool_call_id="weather", name="weather")]
    sunny = "It is sunny in Paris, 21 degrees."

    def judged(*turn: Any) -> tuple[str, str]:
        messages = [*(before if earlier else ()), HumanMessage("And the weather in Paris?"), *turn, AIMessage(sunny)]
        update = GroundednessMiddleware(mode="block", answer="Blocked.").after_agent({"messages": messages}, None)  # type: ignore[arg-type, typeddict-item]
        assert update is not None
        answer = update["messages"][-1]
        return answer.text, answer.response_metadata["rag_intrinsics"]["hallucination_detection"]["label"]

    assert judged(*weather) == (sunny, "faithful")  # by what it said of the place that was asked about
    assert judged(weather[0], weather[1].model_copy(update={"content": "Rain."})) == ("Blocked.", "unfaithful")
    failed = [weather[0], weather[1].model_copy(update={"status": "error"})]
    for turn in ([], failed):
        assert judged(*turn) == (("Blocked.", "unfaithful") if earlier else (sunny, "NA"))
