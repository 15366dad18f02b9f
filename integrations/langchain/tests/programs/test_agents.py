"""Programs as people write them with LangChain's agents. Numbers are items of the list in ``test_chains``."""

from __future__ import annotations

import asyncio
import json
from typing import Any, TypedDict

import pytest
from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import create_retriever_tool, tool
from pydantic import BaseModel, Field

from integrations.langchain.tests.agents import search
from integrations.langchain.tests.scripts import FAITHFUL, INVENTED, QUESTION, documents, judging
from integrations.langchain.tests.test_retriever import WordRetriever
from intrinsics_core import InvalidInput, RuntimeUnavailable
from tests.contract.scripts import no_judge

pytest.importorskip("langchain.agents", reason="the extra [agents] is not installed")

from langchain.agents import create_agent
from langchain.agents.structured_output import ProviderStrategy, ToolStrategy
from langchain_rag_intrinsics import (
    AnswerabilityGate,
    AnswerabilityMiddleware,
    ContextRelevanceFilter,
    GroundednessMiddleware,
    IntrinsicsRetriever,
    QueryExpander,
)
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph


class Script(BaseChatModel):
    """An agent's model that says what it is told to, one after the other."""

    says: list[Any]
    seen: list[Any] = Field(default_factory=list)  # shared with the copies that have tools

    @property
    def _llm_type(self) -> str:
        return "script"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self

    def bind(self, **kwargs: Any) -> Any:
        return self

    def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> ChatResult:
        self.seen.append(messages)
        said = self.says[len(self.seen) - 1]
        return ChatResult(
            generations=[ChatGeneration(message=said if isinstance(said, AIMessage) else AIMessage(said))]
        )


def call(name: str, **args: Any) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": name, "args": args, "id": f"{name}-{len(str(args))}"}])


@tool
def send_email(text: str) -> str:
    """Send an email."""
    return "ok"


def ask(agent: Any, question: str, thread: str | None = None, asynchronous: bool = False) -> dict[str, Any]:
    given, config = {"messages": [HumanMessage(question)]}, {"configurable": {"thread_id": thread}} if thread else None
    state: dict[str, Any] = asyncio.run(agent.ainvoke(given, config)) if asynchronous else agent.invoke(given, config)
    return state


def last(state: dict[str, Any]) -> Any:
    return state["messages"][-1]


def test_11a_a_tool_that_sends_an_email_is_not_judged_by_its_ok() -> None:
    middleware = [AnswerabilityMiddleware(), GroundednessMiddleware(mode="block")]
    model = Script(says=[call("send_email", text="Hello"), "I have sent it."])
    agent = create_agent(model, [send_email], middleware=middleware)
    assert last(ask(agent, "Tell Ada hello.")).text == "I have sent it."


def test_11a_an_answer_is_judged_by_what_a_search_says_in_words() -> None:
    @tool
    def look_up_words(query: str) -> str:
        """Search."""
        return "Ada Brink built the mill."

    for settings in ({}, {"tools": "look_up_words"}):
        model = Script(says=[call("look_up_words", query="umbrellas"), INVENTED])
        guard = GroundednessMiddleware(judging(), mode="block", **settings)
        assert last(ask(create_agent(model, [look_up_words], middleware=[guard]), "Which umbrellas?")).text != INVENTED


@pytest.mark.parametrize("asynchronous", [False, True])
def test_11b_the_retriever_of_a_tool_searches_in_other_words_too(asynchronous: bool) -> None:
    asked: list[str] = []

    def find(query: str) -> list[Document]:
        asked.append(query)
        return documents()[2:] if query == "mill" else documents()[1:2]

    retriever = IntrinsicsRetriever(retriever=RunnableLambda(find), expander=QueryExpander(runtime=judging()))
    tool_ = create_retriever_tool(retriever, "search", "Search.", response_format="content_and_artifact")
    model = Script(says=[call("search", query="mill"), FAITHFUL])
    agent = create_agent(model, [tool_], middleware=[AnswerabilityMiddleware(judging())])
    state = ask(agent, QUESTION, asynchronous=asynchronous)
    assert last(state).text == FAITHFUL and asked[0] == "mill" and len(asked) > 1
    (found,) = [m for m in state["messages"] if isinstance(m, ToolMessage)]
    assert "Ada Brink" in found.text and "mill" in [d.id for d in found.artifact]


def test_11b_a_search_that_does_not_answer_ends_the_run() -> None:
    retriever = WordRetriever(passages=documents()[2:])
    tool_ = create_retriever_tool(retriever, "search", "Search.", response_format="content_and_artifact")
    middleware = AnswerabilityMiddleware(judging(), answer=lambda state: "Nothing.")
    state = ask(create_agent(Script(says=[call("search", query="mill")]), [tool_], middleware=[middleware]), QUESTION)
    assert last(state).text == "Nothing."
    assert last(state).response_metadata["rag_intrinsics"]["answerability"]["label"] == "unanswerable"


class Reply(BaseModel):
    """What the user wants to know."""

    answer: str
    year: int | None = None


STRATEGIES: dict[str, Any] = {"tool": (ToolStrategy, lambda **args: call("Reply", **args)),
                              "provider": (ProviderStrategy, lambda **args: json.dumps(args))}  # fmt: skip


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("asynchronous", [False, True])
def test_11c_a_structured_answer_is_blocked_and_nothing_of_it_is_left(strategy: str, asynchronous: bool) -> None:
    response_format, says = STRATEGIES[strategy]
    model = Script(says=[call("search", query="bakery umbrellas"), says(answer=INVENTED)])
    middleware = GroundednessMiddleware(judging(), mode="block", answer="Blocked.")
    agent = create_agent(model, [search()], middleware=[middleware], response_format=response_format(Reply))
    state = ask(agent, "Which umbrellas?", asynchronous=asynchronous)
    assert last(state).text == "Blocked." and isinstance(last(state), AIMessage)
    assert last(state).response_metadata["rag_intrinsics"]["hallucination_detection"]["label"] == "unfaithful"
    assert state["structured_response"] is None
    assert "purple" not in " ".join(json.dumps(m.model_dump(exclude={"response_metadata"}), default=str)
                                    for m in state["messages"])  # fmt: skip


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_11c_a_grounded_structured_answer_stays(strategy: str) -> None:
    response_format, says = STRATEGIES[strategy]
    model = Script(says=[call("search", query="built the mill"), says(answer=FAITHFUL)])
    middleware = GroundednessMiddleware(judging(), mode="block")
    agent = create_agent(model, [search()], middleware=[middleware], response_format=response_format(Reply))
    state = ask(agent, QUESTION)
    assert state["structured_response"] == Reply(answer=FAITHFUL)
    told = [m for m in state["messages"] if "rag_intrinsics" in m.response_metadata]
    (sentence,) = told[0].response_metadata["rag_intrinsics"]["hallucination_detection"]["sentences"]
    assert sentence["text"] == FAITHFUL


def test_11d_a_follow_up_is_judged_by_what_the_turn_before_it_retrieved() -> None:
    model = Script(says=[call("search", query="built the mill"), FAITHFUL, FAITHFUL, INVENTED])
    middleware = GroundednessMiddleware(judging(), mode="block", answer="Blocked.")
    agent = create_agent(model, [search()], middleware=[middleware], checkpointer=InMemorySaver())
    for question, said in ((QUESTION, FAITHFUL), ("Are you sure?", FAITHFUL), ("And the bakery?", "Blocked.")):
        answer = last(ask(agent, question, "thread"))
        assert answer.text == said
        assert "hallucination_detection" in answer.response_metadata["rag_intrinsics"]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_11d_so_is_a_structured_follow_up_whose_call_is_no_other_tool(strategy: str) -> None:
    response_format, says = STRATEGIES[strategy]
    model = Script(says=[call("search", query="built the mill"), says(answer=FAITHFUL), says(answer=INVENTED)])
    middleware = GroundednessMiddleware(judging(), mode="block", answer="Blocked.")
    agent = create_agent(model, [search()], middleware=[middleware], response_format=response_format(Reply),
                         checkpointer=InMemorySaver())  # fmt: skip
    assert ask(agent, QUESTION, "thread")["structured_response"] == Reply(answer=FAITHFUL)
    state = ask(agent, "And the bakery?", "thread")
    assert last(state).text == "Blocked." and state["structured_response"] is None


@pytest.mark.parametrize("asynchronous", [False, True])
def test_9d_an_annotation_that_fails_does_not_cost_the_answer(asynchronous: bool) -> None:
    down = no_judge()

    def agent(mode: Any) -> Any:
        model = Script(says=[call("search", query="built the mill"), FAITHFUL])
        return create_agent(model, [search()], middleware=[GroundednessMiddleware(down, mode=mode)])

    answer = last(ask(agent("annotate"), QUESTION, asynchronous=asynchronous))
    assert answer.text == FAITHFUL
    assert "refused" in answer.response_metadata["rag_intrinsics"]["hallucination_detection"]["degraded"]
    with pytest.raises(RuntimeUnavailable):
        ask(agent("block"), QUESTION, asynchronous=asynchronous)


def test_9e_settings_are_checked_when_a_middleware_is_built() -> None:
    with pytest.raises(InvalidInput, match="on_error"):
        AnswerabilityMiddleware(on_error="ignore")
    with pytest.raises(InvalidInput, match="on_error"):
        GroundednessMiddleware(on_error="closed")
    with pytest.raises(InvalidInput, match="labels"):
        GroundednessMiddleware(labels=["wrong"])  # type: ignore[list-item]


def test_13f_one_label_in_words() -> None:
    model = Script(says=[call("search", query="bakery"), INVENTED])
    middleware = GroundednessMiddleware(judging(), mode="block", labels="unfaithful", answer="Blocked.")
    assert last(ask(create_agent(model, [search()], middleware=[middleware]), "Umbrellas?")).text == "Blocked."


class State(TypedDict, total=False):
    question: str
    query: str
    tries: int
    documents: list[Document]
    answerability: dict[str, Any]
    answer: AIMessage


def test_18d_a_corrective_graph() -> None:
    """Grade, gate, rewrite, retry: the example of the docs, with models that are scripted."""

    def find(query: str) -> list[Document]:
        return documents()[1:] if "built" in query else documents()[2:]

    runtime = judging()
    grade, gate, expand = (kind(runtime=runtime) for kind in (ContextRelevanceFilter, AnswerabilityGate, QueryExpander))

    def retrieve(state: State) -> State:
        found = find(state.get("query", "mill"))
        return {"documents": found, "tries": state.get("tries", 0) + 1}

    graph = StateGraph(State)
    graph.add_node("retrieve", retrieve)
    graph.add_node("grade", lambda state: {"documents": grade.invoke(state)})
    graph.add_node("gate", gate)
    graph.add_node("rewrite", lambda state: {"query": expand.invoke(state)[-1]})
    graph.add_node("write", lambda state: {"answer": AIMessage(FAITHFUL)})
    graph.add_node("refuse", lambda state: {"answer": AIMessage("I do not know.")})

    def route(state: State) -> str:
        if state["answerability"]["label"] == "answerable":
            return "write"
        return "rewrite" if state["tries"] < 2 else "refuse"

    for one, other in [(START, "retrieve"), ("retrieve", "grade"), ("grade", "gate"), ("rewrite", "retrieve"),
                       ("write", END), ("refuse", END)]:  # fmt: skip
        graph.add_edge(one, other)
    graph.add_conditional_edges("gate", route)
    app = graph.compile()
    found = app.invoke({"question": QUESTION})
    assert (found["answer"].text, found["tries"], [d.id for d in found["documents"]]) == (FAITHFUL, 2, ["mill"])
    # The state of this turn holds an answer; the next one begins with it.
    again = app.invoke({**found, "question": "Which umbrellas does the bakery sell?", "tries": 0})
    assert (again["answer"].text, again["documents"]) == ("I do not know.", [])
