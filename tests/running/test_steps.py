"""Steps that are written once for synchronous and asynchronous callers."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from intrinsics_core.running.steps import Steps, arun_steps, run_steps


def program(question: str) -> Steps[str]:
    found = yield "search", question
    return f"{found}." if found else (yield "ask", question)


def search(question: str) -> str:
    return {"Who?": "Ada Brink"}.get(question, "")


def ask(question: str) -> Any:
    raise LookupError(question)


async def asearch(question: str) -> str:
    return search(question)


async def aask(question: str) -> Any:
    raise LookupError(question)


def test_steps_are_done_in_order_and_an_error_ends_them() -> None:
    assert run_steps(program("Who?"), {"search": search, "ask": ask}) == "Ada Brink."
    assert asyncio.run(arun_steps(program("Who?"), {"search": asearch, "ask": aask})) == "Ada Brink."
    with pytest.raises(LookupError, match="When"):
        run_steps(program("When?"), {"search": search, "ask": ask})
    with pytest.raises(LookupError, match="When"):
        asyncio.run(arun_steps(program("When?"), {"search": asearch, "ask": aask}))
