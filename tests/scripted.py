"""The scripted runtime of the core, and the same over an event loop."""

from __future__ import annotations

from collections.abc import Sequence

from intrinsics_core import AsyncRuntime
from intrinsics_core.profiles.prompted import PROFILE
from intrinsics_core.protocol.requests import Outcome, Request
from intrinsics_core.runtimes.scripted import Script, Scripted, outcome

__all__ = ["AsyncScripted", "Script", "Scripted", "outcome"]


class AsyncScripted(AsyncRuntime):
    """The same over an event loop."""

    profile = PROFILE

    def __init__(self, script: Script, concurrency: int = 16) -> None:
        self.script, self.concurrency = script, concurrency

    async def ahandle(self, requests: Sequence[Request]) -> list[Outcome]:
        return [outcome(self.script(request)) for request in requests]
