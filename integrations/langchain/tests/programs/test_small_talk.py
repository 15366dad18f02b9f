"""Agents that search, act and chat, judged by what ships: only what claims something about the documents is blocked."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage

from integrations.langchain.tests.scripts import FAITHFUL, INVENTED, QUESTION

pytest.importorskip("langchain.agents", reason="the extra [agents] is not installed")

from langchain.agents import create_agent
from langchain_rag_intrinsics import AnswerabilityMiddleware, GroundednessMiddleware
from langgraph.checkpoint.memory import InMemorySaver

from integrations.langchain.tests.programs.test_agents import Script, ask, call, last, search, send_email


def agent(*says: Any, **settings: Any) -> Any:
    middleware = GroundednessMiddleware(mode="block", answer="Blocked.", **settings)
    return create_agent(Script(says=list(says)), [search(), send_email], middleware=[middleware],
                        checkpointer=InMemorySaver())  # fmt: skip


def label(message: AIMessage) -> str:
    found: str = message.response_metadata["rag_intrinsics"]["hallucination_detection"]["label"]
    return found


@pytest.mark.parametrize("asynchronous", [False, True])
def test_small_talk_after_a_search_is_not_blocked_and_an_invention_is(asynchronous: bool) -> None:
    talk = ["You are welcome!", "No problem.", "Bye!", "Have a nice day.", "Shall I look up the opening hours, too?"]
    chat = agent(call("search", query="built the mill"), FAITHFUL, *talk, INVENTED)
    assert last(ask(chat, QUESTION, "thread", asynchronous)).text == FAITHFUL
    for said in talk:
        answer = last(ask(chat, "Thanks!", "thread", asynchronous))
        assert (answer.text, label(answer)) == (said, "NA")
    assert last(ask(chat, "And the bakery?", "thread", asynchronous)).text == "Blocked."


@pytest.mark.parametrize("asynchronous", [False, True])
def test_the_report_of_a_mail_that_was_sent_is_not_blocked(asynchronous: bool) -> None:
    said = "I have sent the email to Anna."
    mail = call("send_email", text="Dear Anna, Ada Brink built the mill.")
    chat = agent(call("search", query="built the mill"), mail, said)
    answer = last(ask(chat, "Find out who built the mill and mail it to Anna.", "thread", asynchronous))
    assert (answer.text, label(answer)) == (said, "NA")


def test_the_report_of_a_mail_that_was_not_sent_is_blocked() -> None:
    said = "I have sent the email to Anna."
    chat = agent(call("search", query="built the mill"), said)
    assert last(ask(chat, "Find out who built the mill and mail it to Anna.", "thread")).text == "Blocked."


def test_a_call_of_an_earlier_turn_is_no_excuse() -> None:
    mail = call("send_email", text="Dear Anna, Ada Brink built the mill.")
    said = "I have sent the email to Anna."
    chat = agent(call("search", query="built the mill"), mail, said, said)
    assert last(ask(chat, "Find out who built the mill and mail it to Anna.", "thread")).text == said
    assert last(ask(chat, "Now mail Anna when it was built.", "thread")).text == "Blocked."


def test_an_invention_beside_a_report_is_blocked() -> None:
    mail = call("send_email", text="Dear Anna, Ada Brink built the mill.")
    chat = agent(call("search", query="built the mill"), mail, f"I have sent the email to Anna. {INVENTED}")
    answer = last(ask(chat, "Find out who built the mill and mail it to Anna.", "thread"))
    assert (answer.text, label(answer)) == ("Blocked.", "unfaithful")


@pytest.mark.parametrize(
    ("turn", "ends"),
    [
        ("Thanks, that helps a lot!", False),
        ("My name is Tom and I have two kids.", False),
        ("Can I ask you something?", False),
        ("Thanks, that helps. Which umbrellas does the bakery sell?", True),
        ("umbrellas in the bakery", True),
    ],
)
def test_a_remark_does_not_end_the_run_of_an_agent_that_searched(turn: str, ends: bool) -> None:
    script = Script(says=[call("search", query=turn), "How can I help?"])
    made = create_agent(script, [search()], middleware=[AnswerabilityMiddleware(answer="Canned.")])
    assert last(ask(made, turn)).text == ("Canned." if ends else "How can I help?")
