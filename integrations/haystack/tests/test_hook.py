"""The hook inside Haystack's Agent."""

import asyncio
from typing import Annotated, Any

import pytest
from haystack import Document, Pipeline
from haystack.components.agents import Agent
from haystack.components.agents.state import State
from haystack.components.generators.chat import MockChatGenerator
from haystack.dataclasses import ChatMessage, ChatRole, TextContent, ToolCall, ToolCallResult
from haystack.tools import tool
from haystack_integrations.hooks.rag_intrinsics import RagIntrinsicsGroundednessHook

from integrations.haystack.tests.agents import search, verdict
from integrations.haystack.tests.generators import AsyncGenerator
from integrations.haystack.tests.scripts import FAITHFUL, INVENTED, QUESTION, documents
from integrations.haystack.tests.scripts import judging as judging_runtime
from intrinsics_core import InvalidInput
from intrinsics_core.profiles.asking import data_of


@tool(outputs_to_state={"documents": {"source": "documents"}})
def find(query: Annotated[str, "what to look for"]) -> dict[str, Any]:
    """Find documents."""
    return {"documents": documents()}


class Script:
    """Asks a tool first, then says one answer after the other."""

    def __init__(self, name: str | None, *answers: str) -> None:
        call = ToolCall(tool_name=name or "", arguments={"query": "mill"}, id="1")
        asking = [ChatMessage.from_assistant(tool_calls=[call])] if name else []
        self.replies = iter([*asking, *answers])

    def __call__(self, messages: list[ChatMessage], settings: Any) -> Any:
        return next(self.replies)


def run(hook: Any, script: Script, asynchronous: bool = False) -> Any:
    agent = Agent(
        chat_generator=AsyncGenerator(script),
        tools=[search, find],
        state_schema={"documents": {"type": list[Document]}},
        hooks={"on_exit": [hook]},
    )
    turns = [ChatMessage.from_user(QUESTION)]
    return asyncio.run(agent.run_async(messages=turns)) if asynchronous else agent.run(messages=turns)


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("name", ["search", "find"])
def test_an_answer_is_annotated(name: str, asynchronous: bool) -> None:
    hook = RagIntrinsicsGroundednessHook(judging_runtime())
    last = run(hook, Script(name, f"{FAITHFUL} {INVENTED}"), asynchronous)["last_message"]
    assert last.text == f"{FAITHFUL} {INVENTED}"
    assert [s["label"] for s in verdict(last)["sentences"]] == ["faithful", "unfaithful"]


def test_an_unsupported_answer_is_blocked() -> None:
    hook = RagIntrinsicsGroundednessHook(judging_runtime(), mode="block", answer="I had better not say.")
    last = run(hook, Script("search", INVENTED))["last_message"]
    assert last.text == "I had better not say."
    assert verdict(last)["label"] == "unfaithful"
    assert run(hook, Script("search", FAITHFUL))["last_message"].text == FAITHFUL


@pytest.mark.parametrize("second", [FAITHFUL, INVENTED])
def test_the_model_is_told_once_what_is_not_supported(second: str) -> None:
    hook = RagIntrinsicsGroundednessHook(judging_runtime(), mode="retry")
    found = run(hook, Script("search", INVENTED, second, "never asked for"))
    *_, result, last = found["messages"]
    assert last.text == second
    assert result.role.value == "tool"  # what the model was told, and what it had said, are not in the transcript
    assert verdict(last)["label"] == ("faithful" if second == FAITHFUL else "unfaithful")


def test_an_answer_that_is_wrong_a_second_time_is_blocked_where_that_was_asked_for() -> None:
    hook = RagIntrinsicsGroundednessHook(judging_runtime(), mode="retry_then_block", answer="I had better not say.")
    assert run(hook, Script("search", INVENTED, INVENTED))["last_message"].text == "I had better not say."
    assert run(hook, Script("search", INVENTED, FAITHFUL))["last_message"].text == FAITHFUL


def test_an_answer_that_the_model_was_not_asked_for_again_is_blocked_too() -> None:
    hook = RagIntrinsicsGroundednessHook(judging_runtime(), mode="retry_then_block", answer="I had better not say.")
    agent = Agent(chat_generator=AsyncGenerator(Script("search", INVENTED)), tools=[search], hooks=hook.hooks,
                  max_agent_steps=2)  # fmt: skip
    found = agent.run(messages=[ChatMessage.from_user(QUESTION)])
    assert found["last_message"].text == "I had better not say."


@pytest.mark.parametrize("script", [Script(None, INVENTED), Script("search", INVENTED)])
def test_what_cannot_be_judged_is_marked(script: Script) -> None:
    hook = RagIntrinsicsGroundednessHook(judging_runtime(), tools=["another"])
    last = run(hook, script)["last_message"]
    assert last.text == INVENTED
    assert (verdict(last)["label"], verdict(last)["degraded"]) == ("NA", "nothing retrieved")


@pytest.mark.parametrize(("unretrieved", "text"), [("block", "I had better not say."), ("pass", INVENTED)])
def test_it_is_blocked_or_passes_where_that_is_asked(unretrieved: Any, text: str) -> None:
    hook = RagIntrinsicsGroundednessHook(judging_runtime(), unretrieved=unretrieved, answer="I had better not say.")
    last = run(hook, Script(None, INVENTED))["last_message"]
    assert last.text == text
    assert (verdict(last) is None) == (unretrieved == "pass")


def test_each_tools_text_is_a_document_of_its_own() -> None:
    calls = [ToolCall(tool_name=name, arguments={"query": "mill"}, id=name) for name in ("search", "find")]
    results = [
        ToolCallResult(result="Fog is common in May.", origin=calls[0], error=False),
        ToolCallResult(result=[TextContent(FAITHFUL)], origin=calls[1], error=False),
        ToolCallResult(result="no such tool", origin=calls[0], error=True),
    ]
    runtime = judging_runtime()
    turns = [
        ChatMessage.from_user(QUESTION),
        ChatMessage.from_assistant(tool_calls=calls),
        ChatMessage(_role=ChatRole.TOOL, _content=results),
        ChatMessage.from_assistant(FAITHFUL),
    ]
    state = State({}, {"messages": turns})
    RagIntrinsicsGroundednessHook(runtime).run(state)
    assert verdict(state.data["messages"][-1])["label"] == "faithful"
    [[request]] = runtime.waves
    shown = data_of(request.messages[-1].content)  # type: ignore[union-attr,index]
    assert [d["text"] for d in shown["documents"]] == ["Fog is common in May.", FAITHFUL]
    assert turns[-1].meta == {}


def test_an_agent_is_saved_with_its_hook() -> None:
    hook = RagIntrinsicsGroundednessHook({"kind": "embedded"}, mode="block", labels=("unfaithful", "partial"))
    agent = Agent(chat_generator=MockChatGenerator("Hello!"), hooks={"on_exit": [hook]})
    pipeline = Pipeline()
    pipeline.add_component("agent", agent)
    again = Pipeline.loads(pipeline.dumps()).get_component("agent").hooks["on_exit"][0]
    assert again.to_dict() == hook.to_dict()
    assert (again.mode, again.labels) == ("block", ["unfaithful", "partial"])


def test_mistakes_are_named() -> None:
    with pytest.raises(InvalidInput, match="mode"):
        RagIntrinsicsGroundednessHook(mode="scold")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="unretrieved"):
        RagIntrinsicsGroundednessHook(unretrieved="perhaps")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="on_exit"):
        Agent(
            chat_generator=AsyncGenerator(Script(None, "x")),
            hooks={"before_llm": [RagIntrinsicsGroundednessHook()]},
        )
