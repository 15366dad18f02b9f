"""Which tool results tell nothing beside their call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from intrinsics_core.chains.evidence import (
    evidence,
    has_other_results,
    is_search,
    only_acknowledges,
    title_of,
    tool_names,
)
from intrinsics_core.chains.transcript import MadeCall

TODOS = {"todos": [{"content": "Find the price", "status": "in_progress"}]}


@pytest.mark.parametrize(
    ("name", "arguments", "result"),
    [
        ("write_todos", TODOS, f"Updated todo list to {TODOS['todos']}"),
        ("transfer_to_writer", {"task": "answer"}, "Successfully transferred to writer"),
        ("transfer_back_to_supervisor", {}, "Successfully transferred back to supervisor"),
        ("transferToSales", {}, "Transferred to sales agent."),
        ("think", {"thought": "The lease may say more."}, "Thought noted: The lease may say more."),
        ("save_memory", {"text": "The user likes dogs."}, "Saved to memory: the user likes dogs"),
        ("think_tool", {"reflection": "Look for the deposit."}, "Reflection recorded: Look for the deposit."),
        ("update_plan", {"steps": ["read", "answer"]}, "Plan updated"),
        ("remember", {"fact": "user has a dog"}, "I have noted that the user has a dog."),
        ("handoff", {"to_agent": "billing"}, "The conversation was handed over to billing."),
    ],
)
def test_a_kept_record_or_a_handoff_tells_nothing(name: str, arguments: Any, result: str) -> None:
    assert only_acknowledges(name, arguments, result)


@pytest.mark.parametrize(
    ("name", "arguments", "result"),
    [
        ("is_open", {"day": "Monday"}, "Open on Monday"),
        ("inventory", {"item": "lamp"}, "Lamp stored"),
        ("transfers", {"id": 7}, "transferred"),
        ("get_note", {"about": "rent"}, "Saved note: rent"),
        ("update_order", {"order": 7}, "Updated order 7: it arrives on Monday."),
        ("order_status", {"order": 7}, "Order 7 was transferred"),
        ("save_memory", {"text": "x"}, "Not saved."),
        ("save_note", {"text": "rent"}, "Saved. You have 3 notes: rent, dogs, deposit."),
        ("run_test", {"name": "login"}, "login: passed"),
        ("weather", {"city": "Lisbon"}, "It will rain in Lisbon tomorrow."),
        ("send_mail", {"to": "Anna"}, "ok"),
        ("write_todos", TODOS, ""),
        ("transfer_to_writer", {}, "Transferred to writer. The rent is 950 euros."),
    ],
)
def test_a_result_with_news_tells_something(name: str, arguments: Any, result: str) -> None:
    assert not only_acknowledges(name, arguments, result)


def said(name: str, result: str, *documents: str, arguments: Any = "") -> MadeCall:
    return MadeCall(name, arguments, result=result, documents=documents or None)


def resting_on(
    now: list[MadeCall], before: Sequence[MadeCall] = (), tools: Any = None, documents: tuple[str, ...] = ()
) -> list[str]:
    found = evidence(
        documents, now, before, tool_names(tools), text_of=str, from_text=lambda call, title: call.result or ""
    )
    return [text.split()[0] for text in found]


MILL, FOG, WEATHER = said("search", "Mill", "Mill a"), said("search", "Fog", "Fog b"), said("weather", "Rain c")
HANDBOOK = said("handbook", "Leave d")
TODO = said("write_todos", "Updated todo list to find", arguments="find")


def test_what_an_answer_rests_on(caplog: pytest.LogCaptureFixture) -> None:
    assert resting_on([MILL, FOG]) == ["Mill", "Fog"]
    assert resting_on([FOG, MILL, FOG], [MILL]) == ["Fog", "Mill"]  # each text once
    assert resting_on([], [MILL, FOG]) == ["Fog", "Mill"]  # what earlier turns retrieved, the newest first
    assert resting_on([WEATHER, TODO]) == ["Rain"]  # nothing was retrieved: all that was said
    assert resting_on([WEATHER], [MILL]) == ["Rain", "Mill"]
    assert resting_on([], [WEATHER, HANDBOOK]) == ["Leave", "Rain"]
    assert resting_on([TODO, said("weather", "  "), said("search", "")]) == []
    assert resting_on([MadeCall("weather", result="Rain c", failed=True), MadeCall("open")]) == []
    assert not caplog.records


def test_words_of_tools_that_are_named_stand_behind_documents(caplog: pytest.LogCaptureFixture) -> None:
    assert resting_on([WEATHER, HANDBOOK, MILL], [WEATHER], tools="handbook") == ["Mill", "Leave"]
    assert resting_on([], [HANDBOOK, MILL], tools=["handbook"]) == ["Mill", "Leave"]
    assert resting_on([HANDBOOK], tools=["other"]) == []
    assert not caplog.records


def test_documents_of_a_state_are_not_said_twice(caplog: pytest.LogCaptureFixture) -> None:
    lookup, old = said("lookup", "1. Mill a\n2. Fog b"), said("lookup", "Old e")
    assert resting_on([lookup], [old], documents=("Mill a", "Fog b")) == ["Mill", "Fog", "Old"]
    assert resting_on([lookup, HANDBOOK], tools="handbook", documents=("Mill a", " ")) == ["Mill", "Leave"]


def test_a_tool_whose_words_do_not_count_is_named_once(caplog: pytest.LogCaptureFixture) -> None:
    clock = said("clock_of_this_test", "Noon f")
    assert resting_on([MILL, clock]) == resting_on([MILL, clock]) == ["Mill"]
    [record] = caplog.records
    assert "['clock_of_this_test', 'search']" in record.getMessage()


def test_what_retrieves() -> None:
    empty = MadeCall("search", result="", documents=())
    assert is_search(MILL, None) and is_search(empty, None) and is_search(HANDBOOK, {"handbook"})
    assert not is_search(HANDBOOK, None) and not is_search(MadeCall("handbook"), {"handbook"})
    assert has_other_results([WEATHER], None) and not has_other_results([MILL, TODO, empty], None)


def test_what_words_of_a_tool_are_about() -> None:
    weather = said("weather", "Sunny, 21 degrees.", arguments={"city": "Paris", "unit": "celsius"})
    assert title_of(weather, "And the weather in Paris?") == "weather: Paris"
    assert title_of(weather, "And the weather?") is None  # not the user's words
    search = said("search", "The mill is old.", arguments={"query": "Napoleon built the mill"})
    assert title_of(search, "Is it so that Napoleon built the mill?") is None  # a claim is no title
