"""An agent whose first answer its documents do not support is asked for another one. The judge is the default one."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from pydantic import BaseModel

from integrations.langchain.tests.programs.test_agents import Script, ask, call, last

pytest.importorskip("langchain.agents", reason="the extra [agents] is not installed")

from langchain.agents import create_agent
from langchain.agents.middleware import ModelCallLimitMiddleware, ModelRetryMiddleware, PIIMiddleware
from langchain.agents.structured_output import ToolStrategy
from langchain_rag_intrinsics import AnswerabilityMiddleware, AnswerCheck, GroundednessMiddleware
from langgraph.checkpoint.memory import InMemorySaver

from integrations.langchain.tests.programs.test_beside_middleware import (
    ASKED,
    EXPERT,
    MAIL,
    RENT,
    SEARCH,
    ZEBRAS,
    direct,
    search,
)


class Failing(Script):
    """Fails, as a provider does, where it is to say an error."""

    def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> Any:
        if isinstance(said := self.says[len(self.seen)], Exception):
            self.seen.append(messages)
            raise said
        return super()._generate(messages, stop, run_manager, **kwargs)


def agent(model: Script, *beside: Any, mode: Any = "retry", **more: Any) -> Any:
    guard = GroundednessMiddleware(mode=mode, answer="Blocked.")
    return create_agent(model, [search], middleware=[*beside, guard], **more)


def label(message: Any) -> str:
    return str(message.response_metadata["rag_intrinsics"]["hallucination_detection"]["label"])


def test_what_of_an_answer_is_not_supported_is_told_with_it() -> None:
    model = Script(says=[SEARCH, f"{RENT} {ZEBRAS}", RENT])
    ask(agent(model), ASKED)
    *_, draft, told = model.seen[2]
    assert draft.text == f"{RENT} {ZEBRAS}" and ZEBRAS in told.text and RENT not in told.text


def test_an_answer_that_is_supported_is_judged_once(monkeypatch: pytest.MonkeyPatch) -> None:
    judged: list[Any] = []
    real = AnswerCheck.invoke
    monkeypatch.setattr(AnswerCheck, "invoke", lambda self, value: judged.append(value) or real(self, value))
    model = Script(says=[SEARCH, RENT])
    assert label(last(ask(agent(model), ASKED))) == "faithful"
    assert len(judged) == 1 and len(model.seen) == 2


def test_what_was_said_first_is_not_in_the_streamed_states() -> None:
    model = Script(says=[SEARCH, ZEBRAS, RENT])
    for mode in ("values", "updates"):
        shown = str(list(agent(model).stream({"messages": [HumanMessage(ASKED)]}, stream_mode=mode)))
        assert ZEBRAS not in shown and RENT in shown
        model.seen.clear()
    tokens = [m.text for m, _ in agent(model).stream({"messages": [HumanMessage(ASKED)]}, stream_mode="messages")]
    assert tokens.index(ZEBRAS) < tokens.index(RENT)


def test_the_model_may_search_again_and_is_told_again_with_what_it_found() -> None:
    again = call("search", query="rent, please")
    model = Script(says=[SEARCH, ZEBRAS, again, ZEBRAS])
    state = ask(agent(model, mode="retry_then_block"), ASKED)
    assert [m.type for m in state["messages"]] == ["human", "ai", "tool", "ai", "tool", "ai"]
    assert last(state).text == "Blocked." and len(model.seen) == 4
    assert model.seen[3][-1] == model.seen[2][-1] and ZEBRAS in model.seen[3][-1].text


def test_an_empty_answer_leaves_the_first_one() -> None:
    for mode, text in (("retry", ZEBRAS), ("retry_then_block", "Blocked.")):
        assert last(ask(agent(Script(says=[SEARCH, ZEBRAS, ""]), mode=mode), ASKED)).text == text


@pytest.mark.parametrize("asynchronous", [False, True])
def test_an_error_leaves_nothing_behind(asynchronous: bool) -> None:
    model = Failing(says=[SEARCH, ZEBRAS, ConnectionError("gone"), ZEBRAS, RENT, "Thank you."])
    run, config = agent(model, checkpointer=InMemorySaver()), {"configurable": {"thread_id": "1"}}
    with pytest.raises(ConnectionError):
        ask(run, ASKED, "1", asynchronous)
    assert [m.type for m in run.get_state(config).values["messages"]] == ["human", "ai", "tool"]
    state = asyncio.run(run.ainvoke(None, config)) if asynchronous else run.invoke(None, config)  # it goes on there
    assert last(state).text == RENT and len(state["messages"]) == 4
    assert last(ask(run, "Thanks!", "1", asynchronous)).text == "Thank you."
    assert [m.text for m in model.seen[-1] if m.type == "human"] == [ASKED, "Thanks!"]


def test_each_turn_of_a_thread_is_asked_for_again_once() -> None:
    model = Script(says=[SEARCH, ZEBRAS, RENT, ZEBRAS, MAIL])
    run = agent(model, checkpointer=InMemorySaver())
    assert last(ask(run, ASKED, "1")).text == RENT
    assert last(ask(run, "Who do I ask?", "1")).text == MAIL


def test_beside_other_middleware() -> None:
    failing = Failing(says=[SEARCH, ZEBRAS, ConnectionError("gone"), RENT])
    retried = create_agent(failing, [search], middleware=[
        GroundednessMiddleware(mode="retry"), ModelRetryMiddleware(max_retries=1, initial_delay=0, jitter=False),
    ])  # fmt: skip
    assert last(ask(retried, ASKED)).text == RENT and len(failing.seen) == 4
    limited = agent(Script(says=[SEARCH, ZEBRAS, RENT]), ModelCallLimitMiddleware(run_limit=2))
    assert last(ask(limited, ASKED)).text == RENT  # the second call is a part of the first
    hidden = PIIMiddleware("email", strategy="redact", apply_to_output=True, apply_to_input=False)
    redacted = last(ask(agent(Script(says=[SEARCH, ZEBRAS, MAIL]), hidden), "Who do I ask?"))
    assert "[REDACTED_EMAIL]" in redacted.text and label(redacted) != "unfaithful"
    gated = agent(Script(says=[SEARCH, ZEBRAS, RENT]), AnswerabilityMiddleware(answer="Not there."))
    assert last(ask(gated, ASKED)).text == RENT
    assert last(
        ask(agent(Script(says=[SEARCH]), AnswerabilityMiddleware(answer="Not there.")), "Why zebras?")
    ).text == ("Not there.")


class Rent(BaseModel):
    answer: str


@pytest.mark.parametrize(("mode", "blocked"), [("retry", False), ("retry_then_block", True)])
def test_structured_answers_and_those_of_tools_are_not_asked_for_again(mode: Any, blocked: bool) -> None:
    model = Script(says=[SEARCH, call("Rent", answer=ZEBRAS)])
    state = ask(agent(model, mode=mode, response_format=ToolStrategy(Rent)), ASKED)
    assert (state["structured_response"] is None) is blocked
    judged = next(m for m in reversed(state["messages"]) if isinstance(m, AIMessage))
    assert label(judged) == "unfaithful" and len(model.seen) == 2
    guard = GroundednessMiddleware(mode=mode, answer="Blocked.")
    asking = create_agent(Script(says=[SEARCH, EXPERT]), [search, direct(ZEBRAS)], middleware=[guard])
    assert last(ask(asking, ASKED)).text == ("Blocked." if blocked else ZEBRAS)


def test_a_graph_of_ones_own_is_told_what_to_tell_its_model() -> None:
    check = AnswerCheck(checks="hallucination-detection", mode="retry_then_block", text="Blocked.")
    given = {"question": ASKED, "documents": [RENT], "answer": f"{RENT} {ZEBRAS}"}
    first = check.invoke(given)
    assert first.text == given["answer"] and ZEBRAS in first.response_metadata["rag_intrinsics"]["retry"]
    assert check.invoke({**given, "again": True}).text == "Blocked."
    assert "retry" not in check.invoke({**given, "answer": RENT}).response_metadata["rag_intrinsics"]
    chunks = list(check.stream(given))
    assert ZEBRAS in sum(chunks[1:], chunks[0]).response_metadata["rag_intrinsics"]["retry"]


@pytest.mark.parametrize("settings", [{"mode": "retry_then_block"}, {"unretrieved": "block"}])
def test_nothing_is_streamed_of_an_answer_that_may_be_replaced(settings: dict[str, Any]) -> None:
    check = AnswerCheck(checks="hallucination-detection", text="Blocked.", **settings)
    given = {"question": ASKED, "documents": [RENT] if "mode" in settings else [], "again": True}
    pieces = iter([given, {"answer": AIMessage("The landlord keeps ")}, {"answer": AIMessage("nine zebras.")}])
    assert [chunk.text for chunk in check.transform(pieces)] == ["Blocked."]
