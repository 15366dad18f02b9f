"""Our middleware beside LangChain's own: plans, handoffs, summaries, limits, redaction; and objects that are parsed."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import (
    ModelCallLimitMiddleware,
    PIIMiddleware,
    SummarizationMiddleware,
    TodoListMiddleware,
)
from langchain_core.documents import Document
from langchain_core.language_models import FakeListChatModel, GenericFakeChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.output_parsers import JsonOutputParser
from langchain_core.runnables import RunnablePassthrough
from langchain_core.tools import tool
from langchain_rag_intrinsics import AnswerabilityMiddleware, Audit, GroundednessMiddleware
from langchain_rag_intrinsics.agents import _retrieved

RENT = "The monthly rent is 950 euros."
INVENTED = "The landlord keeps nine zebras in the cellar."
RAIN = "It will rain in Lisbon tomorrow, with 14 degrees."
ASKED = "How much is the monthly rent?"


class Model(GenericFakeChatModel):
    def bind_tools(self, *args: Any, **more: Any) -> Any:
        return self


def call(name: str, **args: Any) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": name, "args": args or {"query": "x"}, "id": name}])


@tool(response_format="content_and_artifact")
def search(query: str) -> tuple[str, list[Document]]:
    """Search the lease."""
    return RENT, [Document(RENT, id="rent"), Document("Write to anna@lease.example.", id="mail")]


@tool
def weather(query: str) -> str:
    """Forecast."""
    return RAIN


@tool
def transfer_to_writer(query: str) -> str:
    """Hand over."""
    return "Successfully transferred to writer"


def answered(script: list[Any], middleware: list[Any], asked: str = ASKED, before: Any = ()) -> BaseMessage:
    model = Model(messages=iter(script))
    agent = create_agent(model, [search, weather, transfer_to_writer], middleware=middleware)
    last: BaseMessage = agent.invoke({"messages": [*before, ("human", asked)]})["messages"][-1]
    return last


PLAN = call("write_todos", todos=[{"content": "answer", "status": "in_progress"}])
BLOCK = GroundednessMiddleware(mode="block", answer="Blocked.")


@pytest.mark.parametrize("first", [PLAN, call("transfer_to_writer")])
def test_a_plan_or_a_handoff_switches_no_check_off(first: AIMessage) -> None:
    gate = AnswerabilityMiddleware(answer="Not known.")
    script = [first, call("search"), "It is 330 metres high."]
    assert answered(script, [TodoListMiddleware(), gate], "How high is the Eiffel Tower?").text == "Not known."
    told = ToolMessage(RENT, tool_call_id="search", name="search", artifact=[Document(RENT)])
    found = [HumanMessage(ASKED), call("search"), told, AIMessage(RENT)]
    follow_up = ("Does the lease say anything on animals?", found)
    assert answered([first, INVENTED], [TodoListMiddleware(), BLOCK], *follow_up).text == "Blocked."
    assert answered([call("weather"), RAIN], [BLOCK], "And the weather?", found).text == RAIN  # another tool told it


def test_a_summary_of_the_conversation_is_not_the_question() -> None:
    summary = FakeListChatModel(responses=["They talked about the weather in Lisbon."] * 3)
    shortened = SummarizationMiddleware(summary, trigger=("messages", 6), keep=("messages", 2))
    before = [("human", "Hello"), ("ai", "Hello!"), ("human", "Nice weather in Lisbon."), ("ai", "Yes!")]
    both = [shortened, AnswerabilityMiddleware(), BLOCK]
    assert answered([call("search"), RENT], both, before=before).text == RENT
    assert answered([call("search"), INVENTED], both, before=before).text == "Blocked."


def test_the_notice_of_a_limit_is_no_answer() -> None:
    limit = ModelCallLimitMiddleware(run_limit=1, exit_behavior="end")
    notice = answered([call("search")], [limit, BLOCK])
    assert notice.text.startswith("Model call limits exceeded") and "rag_intrinsics" not in notice.response_metadata
    claims = answered([call("search"), f"Model call limits exceeded: {INVENTED}"], [BLOCK])
    assert "rag_intrinsics" in claims.response_metadata


def test_what_was_redacted_is_no_claim() -> None:
    redacted = PIIMiddleware("email", apply_to_output=True, apply_to_input=False)
    said = "Write to anna@lease.example."
    assert answered([call("search"), said], [redacted, BLOCK], "Whom do I ask?").text == "Write to [REDACTED_EMAIL]."


def test_another_tools_text_beside_documents_is_told_of(caplog: pytest.LogCaptureFixture) -> None:
    _retrieved._warned.clear()
    both = AIMessage("", tool_calls=[*call("search").tool_calls, *call("weather").tool_calls])
    with caplog.at_level(logging.WARNING):
        assert answered([both, f"{RENT} {RAIN}"], [BLOCK]).text == "Blocked."
    assert "the tool 'weather' returned text" in caplog.text and "'search'" not in caplog.text
    named = GroundednessMiddleware(mode="block", tools=["search", "weather"])
    assert answered([both, f"{RENT} {RAIN}"], [named]).text == f"{RENT} {RAIN}"


def test_an_answer_beside_its_raw_message_is_what_was_parsed() -> None:
    raw = {
        "raw": call("Rent", monthly_rent="950 euros"),
        "parsed": {"monthly_rent": "950 euros"},
        "parsing_error": None,
    }
    given = {"question": ASKED, "documents": [Document(RENT)]}
    found = [Audit().invoke({**given, "answer": answer})["audit"] for answer in (raw, raw["parsed"])]
    assert found[0] == found[1] and found[0]["label"] == "faithful"
    unparsed = {"raw": AIMessage(INVENTED), "parsed": None, "parsing_error": ValueError("no JSON")}
    assert Audit().invoke({**given, "answer": unparsed})["audit"]["label"] == "unfaithful"


def test_an_object_that_is_parsed_while_it_is_streamed_is_judged_as_a_whole() -> None:
    said = '{"rent": "The monthly rent is 950 euros.", "pets": "The landlord keeps nine zebras in the cellar."}'
    model = GenericFakeChatModel(messages=iter([said, said]))
    chain = RunnablePassthrough.assign(answer=(lambda given: given["question"]) | model | JsonOutputParser()) | Audit()
    given = {"question": ASKED, "documents": [Document(RENT)]}
    whole = chain.invoke(given)["audit"]
    streamed = [piece["audit"] for piece in chain.stream(given) if "audit" in piece]
    assert streamed[-1] == whole and [s["label"] for s in whole["sentences"]] == ["faithful", "unfaithful"]
