"""The `intrinsics` command with one more runtime kind: it answers as its config says, slowly or wrongly."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any, Literal

from intrinsics_core import runtimes
from intrinsics_core.profiles.prompted import PROFILE
from intrinsics_core.protocol.errors import RuntimeUnavailable
from intrinsics_core.protocol.requests import Generated, Outcome, Request


class Slow(runtimes.AsyncRuntime):
    """Config: ``reply`` (any JSON), ``delay`` seconds per request, ``first`` more for the first one, ``api_key`` that
    its errors give away.
    """

    profile = PROFILE

    def __init__(
        self,
        reply: Any = None,
        delay: float = 0,
        first: float = 0,
        api_key: str = "",
        broken: bool = False,
        base_url: str = "",
        headers: Any = None,
        max_tokens: int = 0,
    ) -> None:
        if reply == "unset":
            raise TypeError(f"cannot log in with {api_key}")
        self.reply, self.delay, self.first, self.api_key, self.broken = reply, delay, first, api_key, broken

    async def ahandle(self, requests: Sequence[Request]) -> list[Outcome]:
        wait, self.first = self.delay + self.first, 0
        await asyncio.sleep(wait)
        if self.broken:
            return [RuntimeUnavailable(f"401: {self.api_key} is not valid", raw=self.api_key)] * len(requests)
        return [Generated(json.dumps(self.reply)) for _ in requests]


class SlowConfig(runtimes.Config):
    kind: Literal["slow"] = "slow"
    reply: Any = None
    delay: float = 0
    first: float = 0
    api_key: str = ""
    broken: bool = False
    base_url: str = ""
    headers: Any = None
    max_tokens: int = 0


runtimes.register(SlowConfig, Slow)

if __name__ == "__main__":
    from intrinsics_core.cli import main

    main()
