"""A runtime that answers from a function: how tests feed replies, well-formed and malformed, to intrinsics."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from intrinsics_core import AsyncRuntime, BlockingRuntime
from intrinsics_core.errors import IntrinsicsError
from intrinsics_core.profiles.prompted import PROFILE
from intrinsics_core.requests import Generate, Generated, Outcome, Request, Usage

Script = Callable[[Generate], "str | dict[str, object] | Outcome"]


class Scripted(BlockingRuntime):
    """Answers each Generate request with what ``script`` returns: text, an object for JSON, or an outcome."""

    profile = PROFILE

    def __init__(self, script: Script, concurrency: int = 16) -> None:
        self.script, self.concurrency = script, concurrency
        self.waves: list[Sequence[Request]] = []

    def handle(self, requests: Sequence[Request]) -> list[Outcome]:
        self.waves.append(requests)
        return [outcome(self.script, request) for request in requests]


class AsyncScripted(AsyncRuntime):
    """The same over an event loop."""

    profile = PROFILE

    def __init__(self, script: Script, concurrency: int = 16) -> None:
        self.script, self.concurrency = script, concurrency

    async def ahandle(self, requests: Sequence[Request]) -> list[Outcome]:
        return [outcome(self.script, request) for request in requests]


def outcome(script: Script, request: Request) -> Outcome:
    assert isinstance(request, Generate)
    answer = script(request)
    if isinstance(answer, IntrinsicsError | Generated):
        return answer
    text = answer if isinstance(answer, str) else json.dumps(answer)
    return Generated(text, usage=Usage(requests=1, prompt_tokens=10, completion_tokens=2, seconds=0.01))
