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


def test_an_answer_that_the_model_was_not_asked_for_again_is_blocked_too() -> None:
    hook = RagIntrinsicsGroundednessHook(judging_runtime(), mode="retry_then_block", text="I had better not say.")
    agent = Agent(chat_generator=AsyncGenerator(Script("search", INVENTED)), tools=[search], hooks=hook.hooks,
                  max_agent_steps=2)  # fmt: skip
    found = agent.run(messages=[ChatMessage.from_user(QUESTION)])
    assert found["last_message"].text == "I had better not say."


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


STATION = "Der Bahnhof liegt am Müllerplatz, gleich neben der Post."
GILDED = "Der Bahnhof wurde von vierzig Matrosen golden gestrichen und kostet neun Millionen Euro."


def left(hook: Any, question: str, *turns: ChatMessage, documents: list[Document] | None = None) -> ChatMessage:
    """The answer, which is the last of the turns, as a hook leaves it."""
    schema = {"documents": {"type": list[Document]}, "continue_run": {"type": bool}}
    state = State(schema, {"messages": [ChatMessage.from_user(question), *turns], "documents": documents or []})
    hook.run(state)
    last: ChatMessage = state.data["messages"][-1]
    return last


@pytest.mark.parametrize(("said", "ends"), [(GILDED, True), ("Der Bahnhof liegt am Müllerplatz.", False)])
def test_a_verdict_without_a_probability_counts(said: str, ends: bool) -> None:
    """Nothing was fitted on German: the labels are there, and the verdict is degraded."""
    hook = RagIntrinsicsGroundednessHook(mode="block", text="I had better not say.")
    found = [Document(content=STATION)]
    last = left(hook, "Wo liegt der Bahnhof?", ChatMessage.from_assistant(said), documents=found)
    assert "German" in verdict(last)["degraded"]
    assert last.text == ("I had better not say." if ends else said)
    retrying = RagIntrinsicsGroundednessHook(mode="retry")
    told = left(retrying, "Wo liegt der Bahnhof?", ChatMessage.from_assistant(said), documents=found)
    assert told.is_from(ChatRole.USER) == ends and (GILDED in (told.text or "")) == ends


SENT = "I have sent the email to Anna."


def mailed(result: str = "ok") -> list[ChatMessage]:
    call = ToolCall("send_email", {"to": "Anna"}, id="1")
    returned = ChatMessage.from_tool(result, origin=call)
    return [ChatMessage.from_assistant(tool_calls=[call]), returned, ChatMessage.from_assistant(SENT)]


@pytest.mark.parametrize(
    ("asked", "mailed_before", "blocked"),
    [
        ("Did you send it?", True, False),
        ("Thanks!", True, False),
        ("Did you send it?", False, True),
        ("Send it again.", True, True),
    ],
)
def test_the_report_of_an_action_of_an_earlier_turn_is_not_blocked(
    asked: str, mailed_before: bool, blocked: bool
) -> None:
    hook = RagIntrinsicsGroundednessHook(mode="block", text="No.")
    earlier = [*(mailed()[:2] if mailed_before else ()), ChatMessage.from_assistant("Done.")]
    said = [ChatMessage.from_user(asked), ChatMessage.from_assistant(SENT)]
    last = left(hook, "Mail that to Anna.", *earlier, *said, documents=documents())
    assert last.text == ("No." if blocked else SENT)


def test_a_judge_is_shown_the_calls_and_no_text_twice() -> None:
    runtime = judging_runtime()
    hook = RagIntrinsicsGroundednessHook(runtime)
    left(hook, QUESTION, *mailed("sent at noon"), documents=documents())
    left(hook, QUESTION, *mailed("sent at noon"))
    told = [data_of(wave[0].messages[-1].content)["tool_calls"] for wave in runtime.waves]  # type: ignore[union-attr,index]
    call = {"name": "send_email", "arguments": '{"to": "Anna"}'}
    assert told == [[{**call, "result": "sent at noon"}], [call]]


def test_documents_without_text_are_like_none() -> None:
    pictures = [Document(content=None, meta={"file_path": "boat.png"}), Document(content=" ")]
    hook = RagIntrinsicsGroundednessHook(mode="block", text="No.")
    last = left(hook, "What is on the picture?", ChatMessage.from_assistant("A red boat."), documents=pictures)
    assert (last.text, verdict(last)["degraded"]) == ("A red boat.", "nothing retrieved")
    # What a tool said is not hidden by them.
    call = ToolCall("search", {}, id="1")
    said = [ChatMessage.from_assistant(tool_calls=[call]), ChatMessage.from_tool(FAITHFUL, origin=call)]
    assert left(hook, QUESTION, *said, ChatMessage.from_assistant(INVENTED), documents=pictures).text == "No."


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
