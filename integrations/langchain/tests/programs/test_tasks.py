"""Agents that are given tasks, and the gate on what they retrieved: only a question ends in the canned answer."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import tool

from integrations.langchain.tests.scripts import FAITHFUL, QUESTION, judging
from intrinsics_core import InvalidInput

pytest.importorskip("langchain.agents", reason="the extra [agents] is not installed")

from langchain.agents import create_agent
from langchain_rag_intrinsics import AnswerabilityMiddleware
from langchain_rag_intrinsics.agents._tasks import is_task

from integrations.langchain.tests.programs.test_agents import Script, ask, call, last, search, send_email

UNRELATED = "Which umbrellas does the bakery sell?"
TASKS = [
    "Find out who built the mill and mail it to Anna.", "Summarise what the archive has on umbrellas.",
    "Translate the bakery's price list into French.", "Compare the bakery's umbrellas with the harbour's cranes.",
    "Can you summarise chapter 3?", "Who built the bakery? Mail it to Anna.", "Please book a table at the bakery.",
    "Look up the fee, then send Ben the money.", "Email Anna the bakery's opening hours.", "Help me write a complaint.",
    # a shape of the answer before, and what is more than a shape
    "Make it short.", "Translate it into German.", "Who built the bakery? Write it to Anna in German.",
    "When is it due? Put it in my calendar.", "Call me a taxi. How long does it take?",
    "Who has it? Keep it in my list.",
]  # fmt: skip
QUESTIONS = [
    QUESTION, UNRELATED, "Tell me who built the mill.", "Explain how the crane works.", "List the fees.",
    "Find out who built the mill.", "How do I book a table and cancel it?", "Can I cancel the order and get a refund?",
    "What does it cost to send a letter?", "Order of the phoenix: who wrote it?", "Post office opening hours?",
    "Which is older, the mill or the crane?", "Plan B price", "opening hours mill", "",
    # how it is to be answered is no task
    f"{UNRELATED} Make it short.", f"{UNRELATED} Keep it brief, please.", f"{UNRELATED} Write it as a list.",
    f"Call me Tom. {UNRELATED}", f"Put it simply: {UNRELATED}", f"Please use the handbook. {UNRELATED}",
    f"{UNRELATED} Answer in German, in two short sentences.", f"{UNRELATED} Translate it into French, please.",
    "Tell me who built the mill. Keep the answer under 50 words.", "Keep it short and tell me who built the mill.",
]  # fmt: skip


@pytest.mark.parametrize("text", TASKS)
def test_a_task(text: str) -> None:
    assert is_task(text)


@pytest.mark.parametrize("text", QUESTIONS)
def test_a_question(text: str) -> None:
    assert not is_task(text)


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("task", TASKS[:4])
def test_a_task_goes_on_after_a_search_that_does_not_settle_it(task: str, asynchronous: bool) -> None:
    runtime = judging()
    script = Script(says=[call("search", query="cranes"), call("search", query="mill"),
                          call("send_email", text="Ada Brink"), "I have sent it."])  # fmt: skip
    agent = create_agent(script, [search(), send_email], middleware=[AnswerabilityMiddleware(runtime)])
    assert last(ask(agent, task, asynchronous=asynchronous)).text == "I have sent it."
    assert len(script.seen) == 4 and runtime.waves == []


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_question_that_is_not_answered_still_ends(asynchronous: bool) -> None:
    script = Script(says=[call("search", query="umbrellas")] * 2)
    agent = create_agent(script, [search()], middleware=[AnswerabilityMiddleware(judging(), answer="canned")])
    for question in (UNRELATED, f"{UNRELATED} Make it short."):
        assert last(ask(agent, question, asynchronous=asynchronous)).text == "canned"


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_question_of_which_another_tool_has_the_rest_goes_on(asynchronous: bool) -> None:
    @tool
    def weather(city: str) -> str:
        """The weather."""
        return "Sunny, 21 degrees."

    calls = [*call("search", query="umbrellas").tool_calls, *call("weather", city="Paris").tool_calls]
    for made, text in ((calls, "Sunny."), (calls[:1], "canned")):
        script = Script(says=[AIMessage("", tool_calls=made), "Sunny."])
        middleware = AnswerabilityMiddleware(judging(), answer="canned")
        agent = create_agent(script, [search(), weather], middleware=[middleware])
        assert last(ask(agent, UNRELATED, asynchronous=asynchronous)).text == text


@pytest.mark.parametrize("asynchronous", [False, True])
def test_annotating_lets_every_run_go_on_and_leaves_the_verdict(asynchronous: bool) -> None:
    script = Script(says=[call("search", query="umbrellas"), call("search", query="crane"), "I do not know."])
    middleware = AnswerabilityMiddleware(judging(), mode="annotate")
    state = ask(create_agent(script, [search()], middleware=[middleware]), UNRELATED, asynchronous=asynchronous)
    assert [type(m) for m in state["messages"][1:]] == [AIMessage, ToolMessage, AIMessage, ToolMessage, AIMessage]
    assert last(state).text == "I do not know." and labels(state) == ["unanswerable", "unanswerable"]
    script = Script(says=[call("search", query="built the mill"), FAITHFUL])
    state = ask(create_agent(script, [search()], middleware=[middleware]), QUESTION, asynchronous=asynchronous)
    assert last(state).text == FAITHFUL and labels(state) == ["answerable"]


def labels(state: dict[str, Any]) -> list[str]:
    tools = [m for m in state["messages"] if isinstance(m, ToolMessage)]
    return [m.response_metadata["rag_intrinsics"]["answerability"]["label"] for m in tools]


@pytest.mark.parametrize(("settings", "text"), [({}, "Four."), ({"block_unsure": True}, "canned")])
def test_an_unsure_verdict_ends_a_run_only_where_that_was_asked_for(
    settings: dict[str, Any], text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    middleware = AnswerabilityMiddleware(judging(), answer="canned", **settings)
    judge = type(middleware.gate).invoke
    monkeypatch.setattr(type(middleware.gate), "invoke",
                        lambda *args: judge(*args).model_copy(update={"unsure": True}))  # fmt: skip
    agent = create_agent(Script(says=[call("search", query="x"), "Four."]), [search()], middleware=[middleware])
    assert last(ask(agent, UNRELATED)).text == text


def test_a_mode_that_does_not_exist() -> None:
    with pytest.raises(InvalidInput, match="mode"):
        AnswerabilityMiddleware(mode="warn")  # type: ignore[arg-type]
