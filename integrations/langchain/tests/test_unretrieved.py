"""An agent that never searched: its answer carries a mark."""

from __future__ import annotations

from typing import Any

import pytest
from langchain.agents import AgentState, create_agent
from langchain_core.documents import Document
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_rag_intrinsics import GroundednessMiddleware

INVENTED = "She painted it gold for forty sailors."
MILL = "Ada Brink built the tide mill in 1911."


class Found(AgentState[Any]):
    found: list[str]


def last(middleware: GroundednessMiddleware, **more: Any) -> AIMessage:
    agent = create_agent(FakeListChatModel(responses=[INVENTED]), middleware=[middleware], state_schema=Found)
    message = agent.invoke({"messages": [("human", "What colour is the mill?")], **more})["messages"][-1]
    assert isinstance(message, AIMessage)
    return message


@pytest.mark.parametrize("documents", ["found", lambda state: state["found"]])
def test_documents_of_the_state_are_judged_by(documents: Any) -> None:
    message = last(GroundednessMiddleware(documents=documents), found=[MILL])
    assert message.response_metadata["rag_intrinsics"]["hallucination_detection"]["label"] == "unfaithful"


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
