"""An agent that never searched: its answer carries a mark."""

from __future__ import annotations

from typing import Any

import pytest
from langchain.agents import AgentState, create_agent
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import AIMessage
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


def test_an_answer_without_retrieval_is_marked() -> None:
    message = last(GroundednessMiddleware(mode="block"))
    told = message.response_metadata["rag_intrinsics"]["hallucination-detection"]
    assert (message.text, told["label"], told["degraded"]) == (INVENTED, "NA", "nothing retrieved")


def test_it_is_blocked_or_passes_where_that_is_asked() -> None:
    message = last(GroundednessMiddleware(unretrieved="block", answer="I did not search."))
    assert message.text == "I did not search."
    assert message.response_metadata["rag_intrinsics"]["hallucination-detection"]["label"] == "NA"
    assert "rag_intrinsics" not in last(GroundednessMiddleware(unretrieved="pass")).response_metadata
    with pytest.raises(InvalidInput, match="unretrieved"):
        GroundednessMiddleware(unretrieved="bogus")  # type: ignore[arg-type]


@pytest.mark.parametrize("documents", ["found", lambda state: state["found"]])
def test_documents_of_the_state_are_judged_by(documents: Any) -> None:
    message = last(GroundednessMiddleware(documents=documents), found=[MILL])
    assert message.response_metadata["rag_intrinsics"]["hallucination-detection"]["label"] == "unfaithful"
