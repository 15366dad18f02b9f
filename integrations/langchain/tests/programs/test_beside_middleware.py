"""Agents with LangChain's own middleware beside ours, and tools that search nothing. The judge is the default one."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import tool

from integrations.langchain.tests.programs.test_agents import Script, ask, call, last
from integrations.langchain.tests.scripts import documents

pytest.importorskip("langchain.agents", reason="the extra [agents] is not installed")

from langchain.agents import create_agent
from langchain.agents.middleware import (
    ModelCallLimitMiddleware,
    PIIMiddleware,
    SummarizationMiddleware,
    TodoListMiddleware,
    ToolCallLimitMiddleware,
)
from langchain_rag_intrinsics import AnswerabilityMiddleware, GroundednessMiddleware
from langgraph.checkpoint.memory import InMemorySaver

ASKED = "How much is the monthly rent?"
RENT = "The monthly rent is 950 euros."
ZEBRAS = "The landlord keeps nine zebras in the cellar."
RAIN = "It will rain in Lisbon tomorrow, with 14 degrees."
MAIL = "Questions go to Anna Brink, anna.brink@lease.example."
LEASE = [Document(RENT), Document("Dogs are allowed if the landlord agrees in writing."), Document(MAIL)]
SEARCH = call("search", query="lease")
PLAN = call("write_todos", todos=[{"content": "Read the lease", "status": "in_progress"}])


@tool(response_format="content_and_artifact")
def search(query: str) -> tuple[str, list[Document]]:
    """Search the lease."""
    return "found", LEASE


@tool
def weather(city: str) -> str:
    """The weather."""
    return RAIN


@tool
def transfer_to_writer(task: str) -> str:
    """Hand over to the writer."""
    return "Successfully transferred to writer"


@tool
def save_note(note: str) -> str:
    """Keep a note."""
    return f"Note saved: {note}"


def guard(**settings: Any) -> GroundednessMiddleware:
    return GroundednessMiddleware(mode="block", answer="Blocked.", **settings)


def agent(says: list[Any], *middleware: Any, tools: Any = (), **more: Any) -> Any:
    return create_agent(Script(says=says), [search, *tools], middleware=middleware, **more)


# --- tools that tell nothing --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("other", "ends"),
    [
        (PLAN, True),
        (call("transfer_to_writer", task="answer"), True),
        (call("save_note", note="The user asks for a height."), True),
        (call("weather", city="Lisbon"), False),
    ],
)
def test_a_tool_that_tells_nothing_does_not_let_a_run_go_on(other: AIMessage, ends: bool) -> None:
    middleware = [TodoListMiddleware(), AnswerabilityMiddleware(answer="I cannot tell.")]
    said = "It is 330 metres high."
    run = agent([other, SEARCH, said], *middleware, tools=[weather, transfer_to_writer, save_note])
    assert last(ask(run, "How high is the Eiffel Tower?")).text == ("I cannot tell." if ends else said)


@pytest.mark.parametrize(
    ("other", "said", "blocked"),
    [
        (PLAN, ZEBRAS, True),
        (call("transfer_to_writer", task="answer"), ZEBRAS, True),
        (call("transfer_to_writer", task="answer"), "Dogs are allowed if the landlord agrees in writing.", False),
        (call("weather", city="Lisbon"), RAIN, False),
    ],
)
def test_a_follow_up_is_judged_by_earlier_documents_unless_another_tool_told_something(
    other: AIMessage, said: str, blocked: bool
) -> None:
    tools = [weather, transfer_to_writer]
    run = agent([SEARCH, RENT, other, said], TodoListMiddleware(), guard(), tools=tools, checkpointer=InMemorySaver())
    ask(run, ASKED, "thread")
    assert last(ask(run, "What else should I know?", "thread")).text == ("Blocked." if blocked else said)


def test_a_tool_whose_text_is_not_judged_is_named_once_also_beside_documents(caplog: pytest.LogCaptureFixture) -> None:
    @tool
    def tide_table(day: str) -> str:
        """Tides."""
        return "High tide is at noon."

    says = [call("tide_table", day="Monday"), SEARCH, PLAN, RENT]
    with caplog.at_level(logging.WARNING, logger="intrinsics_core"):
        for _ in range(2):
            ask(agent(says, TodoListMiddleware(), AnswerabilityMiddleware(), guard(), tools=[tide_table]), ASKED)
    assert caplog.text.count("returned text and no documents") == 1
    assert "tools=['tide_table']" in caplog.text


# --- what other middleware writes ---------------------------------------------------------------------------------


@pytest.mark.parametrize("says", [[SEARCH, RENT], [SEARCH, ZEBRAS]])
def test_a_summary_is_not_the_question(says: list[Any]) -> None:
    told = "The user said hello and talked about the weather in Lisbon and a museum."
    summary = SummarizationMiddleware(Script(says=[told] * 3), trigger=("messages", 6), keep=("messages", 2))
    run = agent(says, summary, AnswerabilityMiddleware(), guard())
    before = [("human", "Hello"), ("ai", "Hello!"), ("human", "Nice weather today."), ("ai", "Yes!")]
    state = run.invoke({"messages": [*before, ("human", ASKED)]})
    assert any(m.additional_kwargs.get("lc_source") == "summarization" for m in state["messages"])
    assert last(state).text == (RENT if says[-1] == RENT else "Blocked.")


@pytest.mark.parametrize(
    ("limit", "notice"),
    [
        (ModelCallLimitMiddleware(run_limit=1, exit_behavior="end"), "Model call limits exceeded: run limit (1/1)"),
        (ToolCallLimitMiddleware(run_limit=1, exit_behavior="end"), "call limit reached"),
        (ToolCallLimitMiddleware(tool_name="search", run_limit=1, thread_limit=1, exit_behavior="end"), "'search'"),
    ],
)
def test_the_notice_of_a_limit_stays(limit: Any, notice: str) -> None:
    more = {"checkpointer": InMemorySaver()}
    answer = last(ask(agent([SEARCH, SEARCH, RENT], limit, guard(unretrieved="block"), **more), ASKED, "thread"))
    assert notice in answer.text
    assert "rag_intrinsics" not in answer.response_metadata


@pytest.mark.parametrize("said", [f"Model call limits exceeded: {ZEBRAS}", f"Tool call limit reached: {ZEBRAS}"])
def test_an_answer_that_begins_like_a_notice_is_judged(said: str) -> None:
    assert last(ask(agent([SEARCH, said], guard()), ASKED)).text == "Blocked."


@pytest.mark.parametrize("strategy", ["redact", "mask", "hash"])
def test_a_redacted_address_makes_no_answer_unfaithful(strategy: Any) -> None:
    hidden = PIIMiddleware("email", strategy=strategy, apply_to_output=True, apply_to_input=False)
    answer = last(ask(agent([SEARCH, MAIL], hidden, guard()), "Who do I ask?"))
    assert "Anna Brink" in answer.text and "@lease.example" not in answer.text
    assert last(ask(agent([SEARCH, f"{ZEBRAS} {MAIL}"], hidden, guard()), "Who do I ask?")).text == "Blocked."


# --- a tool that ends the run -------------------------------------------------------------------------------------


def direct(said: str, *, found: list[Document] | None = None) -> Any:
    @tool(return_direct=True, response_format="content_and_artifact")
    def expert(query: str) -> tuple[str, Any]:
        """Ask the expert."""
        return said, found if found is not None else {"answer": said}

    return expert


EXPERT = call("expert", query="lease")


@pytest.mark.parametrize(("said", "blocked"), [(RENT, False), (ZEBRAS, True)])
def test_the_message_of_a_tool_that_ends_the_run_is_judged(said: str, blocked: bool) -> None:
    message = last(ask(agent([SEARCH, EXPERT], guard(), tools=[direct(said)]), ASKED))
    assert isinstance(message, ToolMessage)
    assert message.text == ("Blocked." if blocked else said)
    assert (message.artifact is None) is blocked
    told = message.response_metadata["rag_intrinsics"]["hallucination_detection"]
    assert told["label"] == ("unfaithful" if blocked else "faithful")


def test_it_is_judged_by_the_documents_that_it_returned() -> None:
    message = last(ask(agent([EXPERT], guard(), tools=[direct(ZEBRAS, found=documents())]), ASKED))
    assert (message.text, message.artifact) == ("Blocked.", documents())
    assert last(ask(agent([EXPERT], guard(), tools=[direct(RENT, found=LEASE)]), ASKED)).text == RENT


@pytest.mark.parametrize(("unretrieved", "text"), [("annotate", RAIN), ("block", "Blocked.")])
def test_without_documents_it_is_as_any_answer(unretrieved: Any, text: str) -> None:
    message = last(ask(agent([EXPERT], guard(unretrieved=unretrieved), tools=[direct(RAIN)]), "The weather?"))
    told = message.response_metadata["rag_intrinsics"]["hallucination_detection"]
    assert (message.text, told["degraded"]) == (text, "nothing retrieved")


def test_it_is_not_judged_by_the_documents_of_an_earlier_turn() -> None:
    run = agent([SEARCH, RENT, EXPERT], guard(), tools=[direct(RAIN)], checkpointer=InMemorySaver())
    ask(run, ASKED, "thread")
    assert last(ask(run, "And the weather?", "thread")).text == RAIN
