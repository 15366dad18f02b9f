"""Which tool results tell nothing beside their call."""

from __future__ import annotations

from typing import Any

import pytest

from intrinsics_core.chains.evidence import only_acknowledges

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
