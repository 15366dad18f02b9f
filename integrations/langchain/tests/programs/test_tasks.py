"""The gate on what an agent retrieved: which run ends in the canned answer, and which one goes on."""

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

from integrations.langchain.tests.programs.test_agents import Script, ask, call, last, search, send_email

UNRELATED = "Which umbrellas does the bakery sell?"


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_task_goes_on_where_the_verdict_is_only_noted(asynchronous: bool) -> None:
    script = Script(says=[call("search", query="cranes"), call("search", query="mill"),
                          call("send_email", text="Ada Brink"), "I have sent it."])  # fmt: skip
    middleware = AnswerabilityMiddleware(judging(), mode="annotate")
    agent = create_agent(script, [search(), send_email], middleware=[middleware])
    task = "Find out who built the mill and mail it to Anna."
    assert last(ask(agent, task, asynchronous=asynchronous)).text == "I have sent it."
    assert len(script.seen) == 4


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
