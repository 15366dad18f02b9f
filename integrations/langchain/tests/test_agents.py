"""Agent middleware, in real agents."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from pydantic import Field

from integrations.langchain.tests.agents import search
from integrations.langchain.tests.models import JudgeModel
from integrations.langchain.tests.scripts import FAITHFUL, QUESTION, documents, judging
from intrinsics_core import RuntimeUnavailable
from intrinsics_core.chains.transcript import MadeCall
from tests.contract.judge import judge
from tests.contract.runtimes import OnLoop
from tests.contract.scripts import no_judge
from tests.interpreter import output_of

pytest.importorskip("langchain.agents", reason="the extra [agents] is not installed")

from langchain.agents import create_agent
from langchain_rag_intrinsics import AnswerabilityMiddleware, GroundednessMiddleware
from langchain_rag_intrinsics._documents import documents_of
from langchain_rag_intrinsics._messages import as_turns


class AgentModel(BaseChatModel):
    """Calls its first tool for a question it has no results for, then answers."""

    answer: str = FAITHFUL
    calls: list[int] = Field(default_factory=list)  # shared with the copy that has the tools
    tool_names: list[str] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "agent"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self.model_copy(update={"tool_names": [t.name for t in tools]})

    def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> ChatResult:
        self.calls.append(1)
        if isinstance(messages[-1], HumanMessage) and self.tool_names:
            calls = [{"name": n, "args": {"query": messages[-1].text}, "id": f"call-{n}"} for n in self.tool_names]
            message = AIMessage("", tool_calls=calls)
        else:
            message = AIMessage(self.answer)
        return ChatResult(generations=[ChatGeneration(message=message)])


def ask(agent: Any, question: str, asynchronous: bool = False) -> list[Any]:
    given = {"messages": [HumanMessage(question)]}
    state = asyncio.run(agent.ainvoke(given)) if asynchronous else agent.invoke(given)
    return list(state["messages"])


UNRELATED = "Which umbrellas does the bakery sell?"


@pytest.mark.parametrize("asynchronous", [False, True])
def test_an_unanswerable_question_ends_with_the_canned_answer(asynchronous: bool) -> None:
    model = AgentModel()
    middleware = AnswerabilityMiddleware(judging(), answer="Not in my documents.")
    agent = create_agent(model, [search()], middleware=[middleware])
    last = ask(agent, UNRELATED, asynchronous)[-1]
    assert last.text == "Not in my documents."
    assert last.response_metadata["rag_intrinsics"]["answerability"]["label"] == "unanswerable"
    assert len(model.calls) == 1  # the model never read the documents


@pytest.mark.parametrize("asynchronous", [False, True])
def test_an_answerable_question_goes_on(asynchronous: bool) -> None:
    agent = create_agent(AgentModel(), [search()], middleware=[AnswerabilityMiddleware(judging())])
    assert ask(agent, QUESTION, asynchronous)[-1].text == FAITHFUL


def test_finding_nothing_ends_the_run() -> None:
    runtime = judging()
    agent = create_agent(AgentModel(), [search([])], middleware=[AnswerabilityMiddleware(runtime)])
    last = ask(agent, QUESTION)[-1]
    verdict = last.response_metadata["rag_intrinsics"]["answerability"]
    assert (verdict["label"], verdict["reason"]) == ("unanswerable", "nothing retrieved")
    assert runtime.waves == []


def test_an_agent_that_asks_no_tool_goes_on() -> None:
    runtime = judging()
    agent = create_agent(AgentModel(answer="Hello!"), [], middleware=[AnswerabilityMiddleware(runtime)])
    assert ask(agent, "Hello")[-1].text == "Hello!"
    assert runtime.waves == []


def test_only_named_tools_retrieve() -> None:
    @tool
    def calculator(query: str) -> str:
        """Calculate."""
        return "4"

    for tools, canned in ((None, False), (["search"], False), (["calculator"], True), ("calculator", True)):
        middleware = AnswerabilityMiddleware(judging(), tools=tools, answer="canned")
        agent = create_agent(AgentModel(answer="4"), [calculator], middleware=[middleware])
        assert (ask(agent, "What is 2 + 2?")[-1].text == "canned") is canned


@pytest.mark.parametrize(("on_error", "text"), [("open", FAITHFUL), ("closed", "canned")])
def test_a_failing_gate_does_what_it_was_told(on_error: str, text: str) -> None:
    down = no_judge()
    agent = create_agent(
        AgentModel(), [search()], middleware=[AnswerabilityMiddleware(down, on_error=on_error, answer="canned")]
    )
    assert ask(agent, QUESTION)[-1].text == text
    agent = create_agent(AgentModel(), [search()], middleware=[AnswerabilityMiddleware(down)])
    with pytest.raises(RuntimeUnavailable):
        ask(agent, QUESTION)


def test_both_together_and_a_canned_answer_is_not_judged() -> None:
    middleware = [AnswerabilityMiddleware(judging(), answer="canned"), GroundednessMiddleware(judging(), mode="block")]
    agent = create_agent(AgentModel(), [search()], middleware=middleware)
    last = ask(agent, UNRELATED)[-1]
    assert last.text == "canned"
    assert set(last.response_metadata["rag_intrinsics"]) == {"answerability", "canned"}
    assert ask(agent, QUESTION)[-1].text == FAITHFUL


def test_middleware_works_on_the_agents_loop() -> None:
    runtime = OnLoop()
    middleware = [AnswerabilityMiddleware(runtime), GroundednessMiddleware(runtime)]
    agent = create_agent(AgentModel(), [search()], middleware=middleware)

    async def main() -> None:
        await agent.ainvoke({"messages": [HumanMessage(QUESTION)]})
        assert runtime.loops == {asyncio.get_running_loop()}

    asyncio.run(main())


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_judges_tokens_are_not_the_agents(asynchronous: bool) -> None:
    """A chat model that judges inside an agent does not write into the agent's message stream."""

    def reply(messages: Any, settings: Any) -> Any:
        from intrinsics_core.protocol.requests import Generate, JsonSchema
        from intrinsics_core.protocol.task import Message

        shown = Generate(
            "x", messages=(Message("user", messages[-1].content),), constraint=JsonSchema({"title": "answerability"})
        )
        return judge(shown)

    model = JudgeModel(reply=reply)
    agent = create_agent(AgentModel(), [search()], middleware=[AnswerabilityMiddleware(model)])
    given: Any = {"messages": [HumanMessage(QUESTION)]}

    async def collect() -> list[Any]:
        return [message async for message, _ in agent.astream(given, stream_mode="messages")]

    streamed = asyncio.run(collect()) if asynchronous else [m for m, _ in agent.stream(given, stream_mode="messages")]
    assert model.seen
    assert not any("confidence" in str(m.content) for m in streamed)
    assert any(m.text == FAITHFUL for m in streamed)


def test_messages_as_turns_with_their_calls() -> None:
    one, two = documents()[:2]
    asking = [{"name": name, "args": {"q": name}, "id": name} for name in ("search", "wiki", "read", "open", "lost")]
    messages = [
        HumanMessage("now"),
        AIMessage("", tool_calls=asking),
        ToolMessage("text of one", tool_call_id="search", name="search", artifact=[one, two.model_dump()]),
        ToolMessage("", tool_call_id="wiki", name="wiki", artifact=[]),
        ToolMessage("no events", tool_call_id="read", name="read", artifact=[]),
        ToolMessage("boom", tool_call_id="open", name="open", status="error"),
        ToolMessage("its call was trimmed", tool_call_id="gone", name="old"),
    ]
    turns = as_turns(messages)
    assert [turn.role for turn in turns] == ["user", "assistant", *["tool"] * 5]
    found, nothing, events, failed, lost = turns[1].calls
    assert found.documents == (one, two) and found.arguments == {"q": "search"} and found.done
    assert (nothing.documents, events.documents) == ((), None)
    assert (failed.done, lost.done) == (False, False)
    assert [call.name for call in turns[-1].calls] == ["old"]


def test_equal_texts_under_different_headings_are_two_documents() -> None:
    reports = [
        Document("Revenue rose.", metadata={"title": name, "year": year})
        for name, year in (("A", 1), ("B", 1), ("B", 2))
    ]
    call = MadeCall("search", result="x", documents=(*reports, reports[0]))
    assert documents_of([call], (), None) == reports[:2]
    assert documents_of([call], (), None, ("year",)) == reports
    parts = [Document("Revenue rose.", id="a", metadata={"title": name}) for name in "AB"]
    assert documents_of([MadeCall("search", result="x", documents=tuple(parts))], (), None) == parts[:1]


@pytest.mark.slow
def test_without_the_extra_the_error_names_it() -> None:
    code = (
        "import sys; sys.modules['langchain'] = None\n"
        "import langchain_rag_intrinsics as l\n"
        "l.IntrinsicsReranker()\n"
        "try:\n    l.AnswerabilityMiddleware\n"
        "except ImportError as error:\n    print(error)\n"
    )
    assert "langchain-rag-intrinsics[agents]" in output_of(code)
