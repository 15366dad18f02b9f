"""Runtimes of the tests, registered where an actor imports this: one tells the same of the same row wherever it runs,
dies once if it is told to, and counts what is in flight over all processes."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from intrinsics_core import runtimes
from intrinsics_core.profiles.prompted import PROFILE
from intrinsics_core.protocol.errors import RuntimeUnavailable
from intrinsics_core.protocol.requests import Generated, Outcome, Request
from intrinsics_core.runtimes.limiter import Limiter


class Sure(runtimes.AsyncRuntime):
    """Config: ``folder``, where it leaves marks; ``dies_at``, the text at which the process is killed, once in all;
    ``fails_at``, the text whose row fails; ``delay`` in seconds; ``api_key``, which its errors give
    away; ``counts``: whether it notes the bridges that it is asked about.
    """

    profile = PROFILE

    def __init__(
        self, folder: str, dies_at: str = "", fails_at: str = "", delay: float = 0, api_key: str = "",
        unset: bool = False, counts: bool = False,
    ) -> None:  # fmt: skip
        if unset:
            raise TypeError(f"cannot log in with {api_key}")
        self.folder, self.dies_at, self.fails_at, self.delay = Path(folder), dies_at, fails_at, delay
        self.counts = counts
        self.api_key, self.most, self._limiter = api_key, 0, Limiter(16)

    @property
    def concurrency(self) -> int:  # type: ignore[override]
        return self._limiter.limit

    @concurrency.setter
    def concurrency(self, most: int) -> None:
        self._limiter.limit = most

    async def ahandle(self, requests: Sequence[Request]) -> list[Outcome]:
        return list(await asyncio.gather(*map(self._one, requests)))

    async def _one(self, request: Request) -> Outcome:
        text = repr(request)
        async with self._limiter.place():
            if self._limiter.busy > self.most:
                self.most = self._limiter.busy
                (self.folder / f"most-{os.getpid()}").write_text(str(self.most))
            await asyncio.sleep(self.delay)
        if self.dies_at and self.dies_at in text and self._first("died"):
            os.kill(os.getpid(), signal.SIGKILL)
        if self.counts and (bridge := re.search(r"Who built bridge (\d+)", text)):
            with (self.folder / "asked").open("a") as file:
                file.write(f"{bridge[1]}\n")
        if self.fails_at and self.fails_at in text:
            return RuntimeUnavailable(f"401: {self.api_key} is not valid", raw=self.api_key)
        sure = zlib.crc32(text.encode()) % 1000 / 1000
        return Generated(f'{{"answerability": "{"un" * (sure < 0.5)}answerable", "confidence": {sure}}}')

    def _first(self, name: str) -> bool:
        try:
            (self.folder / name).touch(exist_ok=False)
        except FileExistsError:
            return False
        return True


class SureConfig(runtimes.Config):
    kind: Literal["sure"] = "sure"
    folder: str
    dies_at: str = ""
    fails_at: str = ""
    delay: float = 0
    api_key: str = ""
    unset: bool = False
    counts: bool = False


runtimes.register(SureConfig, Sure)


def config(folder: Path, **given: Any) -> dict[str, Any]:
    return {"kind": "sure", "folder": str(folder), **given}
