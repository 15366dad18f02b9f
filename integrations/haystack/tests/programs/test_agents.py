"""What people do with agents: item 11, an agent with sources, and what else a hook meets."""

import asyncio
from typing import Any

import pytest
from haystack import Document, Pipeline
from haystack.components.agents import Agent
from haystack.components.generators.chat import MockChatGenerator
from haystack.dataclasses import ChatMessage, ToolCall
from haystack.tools import ComponentTool, Tool
from haystack_integrations.components.rankers.rag_intrinsics import RagIntrinsicsContextRelevanceFilter
from haystack_integrations.components.validators.rag_intrinsics import RagIntrinsicsAnswerCheck
from haystack_integrations.hooks.rag_intrinsics import RagIntrinsicsGroundednessHook

from integrations.haystack.tests.agents import search, verdict
from integrations.haystack.tests.generators import AsyncGenerator
from integrations.haystack.tests.scripts import FAITHFUL, INVENTED, QUESTION, documents, retriever
from integrations.haystack.tests.scripts import judging as judging_runtime
from intrinsics_core import InvalidInput, RuntimeUnavailable
from intrinsics_core.profiles.asking import data_of
from tests.contract.scripts import no_judge


def scripted(*replies: Any) -> AsyncGenerator:
    """A model that says one reply after the other; ``"search"`` calls the tool."""
    call = ChatMessage.from_assistant(tool_calls=[ToolCall(tool_name="search", arguments={"query": "mill"}, id="1")])
    said = iter(call if reply == "search" else reply for reply in replies)
    return AsyncGenerator(lambda messages, settings: next(said))


def agent(hook: Any, *replies: Any, **settings: Any) -> Agent:
    hooks = hook.hooks if hasattr(hook, "hooks") else {"on_exit": [hook]}
    return Agent(chat_generator=scripted(*replies), tools=[search], hooks=hooks, **settings)


def test_11_one_label_is_not_its_letters() -> None:
    hook = RagIntrinsicsGroundednessHook(judging_runtime(), mode="block", labels="unfaithful", text="No.")
    assert agent(hook, "search", INVENTED).run(messages=[ChatMessage.from_user(QUESTION)])["last_message"].text == "No."
    kept = RagIntrinsicsContextRelevanceFilter(judging_runtime(), labels="relevant")
    assert [d.id for d in kept.run(query=QUESTION, documents=documents())["documents"]] == ["mill"]
    for wrong in ("unfaithfull", ["faithful", "wrong"], [3]):
        with pytest.raises(InvalidInput, match="labels"):
            RagIntrinsicsGroundednessHook(labels=wrong)
        with pytest.raises(InvalidInput, match="labels"):
            RagIntrinsicsContextRelevanceFilter(labels=wrong)


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("replies", [("search", INVENTED), ("search", INVENTED, ""), ("search", INVENTED, "search")])
def test_11_after_a_failed_retry_the_answer_is_still_the_answer(replies: Any, asynchronous: bool) -> None:
    """The steps run out before the model answers again, or it says nothing."""
    hook = RagIntrinsicsGroundednessHook(judging_runtime(), mode="retry")
    it = agent(hook, *replies, max_agent_steps=len(replies))
    turns = [ChatMessage.from_user(QUESTION)]
    found = asyncio.run(it.run_async(messages=turns)) if asynchronous else it.run(messages=turns)
    assert found["last_message"].text == INVENTED
    assert verdict(found["last_message"])["label"] == "unfaithful"
    assert not any("not supported by what your tools" in (m.text or "") for m in found["messages"])


def test_11_a_retry_leaves_a_clean_transcript() -> None:
    hook = RagIntrinsicsGroundednessHook(judging_runtime(), mode="retry")
    found = agent(hook, "search", INVENTED, FAITHFUL).run(messages=[ChatMessage.from_user(QUESTION)])
    assert [m.role.value for m in found["messages"]] == ["user", "assistant", "tool", "assistant"]
    assert found["last_message"].text == FAITHFUL
    assert verdict(found["last_message"])["label"] == "faithful"


def test_11_a_follow_up_is_judged_by_the_turn_that_retrieved() -> None:
    hook = RagIntrinsicsGroundednessHook(judging_runtime())
    first = agent(hook, "search", FAITHFUL).run(messages=[ChatMessage.from_user(QUESTION)])
    turns = [*first["messages"], ChatMessage.from_user("So in which year was it?")]
    second = agent(hook, "The bakery sold purple umbrellas in 1911.").run(messages=turns)
    assert verdict(second["last_message"])["label"] == "unfaithful"
    fine = agent(hook, "Ada Brink built the mill in 1911.").run(messages=turns)
    assert verdict(fine["last_message"])["label"] == "faithful"


def test_09_a_hook_that_annotates_costs_no_answer() -> None:
    down = no_judge()
    turns = [ChatMessage.from_user(QUESTION)]
    last = agent(RagIntrinsicsGroundednessHook(down), "search", FAITHFUL).run(messages=turns)["last_message"]
    assert last.text == FAITHFUL and "refused" in verdict(last)["degraded"]
    blocking = RagIntrinsicsGroundednessHook(down, mode="block")
    with pytest.raises(RuntimeUnavailable):
        agent(blocking, "search", FAITHFUL).run(messages=turns)
    lenient = RagIntrinsicsGroundednessHook(down, mode="block", on_error="fallback")
    assert agent(lenient, "search", FAITHFUL).run(messages=turns)["last_message"].text == FAITHFUL
    with pytest.raises(InvalidInput, match="on_error"):
        RagIntrinsicsGroundednessHook(on_error="ignore")


def test_18_an_agent_with_sources() -> None:
    """A retriever as the tool, its documents in the Agent's state, and in the answer what it rests on."""
    found = ComponentTool(
        component=retriever(),
        name="search",
        description="Search the town's archive.",
        outputs_to_state={"documents": {"source": "documents"}},
    )
    hook = RagIntrinsicsGroundednessHook()
    it = Agent(
        chat_generator=scripted("search", FAITHFUL),
        tools=[found],
        state_schema={"documents": {"type": list[Document]}},
        hooks={"on_exit": [hook]},
    )
    result = it.run(messages=[ChatMessage.from_user(QUESTION)])
    assert verdict(result["last_message"])["label"] == "faithful"
    cited = RagIntrinsicsAnswerCheck(checks="citations").run(
        query=QUESTION, replies=[result["last_message"]], documents=result["documents"]
    )
    [row] = cited["results"][0]["citations"]["citations"]
    assert row["document_id"] == "mill" and cited["replies"][0].text.startswith("Ada Brink built the mill in 1911 [")


def test_18_an_agent_whose_search_finds_nothing() -> None:
    empty = ComponentTool(component=retriever([]), name="search", description="Search the town's archive.",
                          outputs_to_state={"documents": {"source": "documents"}})  # fmt: skip
    it = Agent(
        chat_generator=scripted("search", "I found nothing about that."),
        tools=[empty],
        state_schema={"documents": {"type": list[Document]}},
        hooks=RagIntrinsicsGroundednessHook(mode="block").hooks,
    )
    assert it.run(messages=[ChatMessage.from_user(QUESTION)])["last_message"].text == "I found nothing about that."


def test_18_an_agent_in_a_pipeline_is_saved_with_both_its_hooks() -> None:
    hook = RagIntrinsicsGroundednessHook({"kind": "embedded"}, mode="retry", labels="partial")
    pipeline = Pipeline()
    pipeline.add_component("agent", Agent(chat_generator=MockChatGenerator("Hello!"), hooks=hook.hooks))
    again = Pipeline.loads(pipeline.dumps())
    assert again.dumps() == pipeline.dumps()
    assert again.get_component("agent").hooks["on_exit"][0].labels == ["partial"]


RENT = Document(id="rent", content="The monthly rent is 950 euros and is due on the third working day of the month.")
DOGS = Document(id="dogs", content="Dogs are allowed if the landlord agrees in writing.")
RIGHT = "The monthly rent is 950 euros."
ZEBRAS = "The landlord keeps nine zebras in the cellar."


def searching(
    hook: Any, found: list[Document], *replies: Any, before: Any = (), asked: str = "How much is the rent?"
) -> Any:
    """An Agent with a search that writes into the state."""
    schema = {"type": "object", "properties": {"query": {"type": "string"}}}
    tools = [
        Tool("search", "search", schema, lambda query: {"documents": found},
             outputs_to_state={"documents": {"source": "documents"}}),
    ]  # fmt: skip
    calls = [ChatMessage.from_assistant(tool_calls=[ToolCall(name, {"query": "x"}, id=name) for name in reply])
             if isinstance(reply, list) else reply for reply in replies]  # fmt: skip
    it = Agent(chat_generator=MockChatGenerator(calls), tools=tools, hooks=hook.hooks,
               state_schema={"documents": {"type": list[Document]}})  # fmt: skip
    return it.run(messages=[*before, ChatMessage.from_user(asked)])


@pytest.mark.parametrize("again", [[], [["search"]]], ids=["no search", "a new search"])
@pytest.mark.parametrize(
    ("said", "label"),
    [
        (f"Dogs are allowed if the landlord agrees in writing. {RIGHT}", "faithful"),
        (f"Dogs are allowed if the landlord agrees in writing. {ZEBRAS}", "unfaithful"),
    ],
)
def test_what_earlier_turns_retrieved_counts(said: str, label: str, again: list[Any]) -> None:
    hook = RagIntrinsicsGroundednessHook()
    first = searching(hook, [RENT] if again else [RENT, DOGS], ["search"], RIGHT)["messages"]
    last = searching(hook, [DOGS], *again, said, before=first, asked="Are dogs allowed? Repeat the rent, too.")
    assert verdict(last["last_message"])["label"] == label
    assert {row.id for row in last.get("documents", ())} == ({"dogs"} if again else set())  # the state stays as it is


def test_documents_of_earlier_turns_keep_their_ids_and_stand_once() -> None:
    hook = RagIntrinsicsGroundednessHook(runtime := judging_runtime())
    first = searching(hook, [RENT, DOGS], ["search"], RIGHT)["messages"]
    searching(hook, [DOGS], ["search"], RIGHT, before=first)
    shown = data_of(runtime.waves[-1][0].messages[-1].content)["documents"]  # type: ignore[union-attr,index]
    assert [row["text"] for row in shown] == [DOGS.content, RENT.content]
