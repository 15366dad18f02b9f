"""These tests need a real vLLM with the tiny Granite of build.py: ``.ci/vllm.sh`` starts one and runs them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from intrinsics_core.profiles import profile
from intrinsics_core.protocol.profile import Format, Profile
from intrinsics_core.protocol.requests import Generate, Outcome, Request
from intrinsics_core.runtimes.server import ServerRuntime

URL = os.environ.get("RAG_INTRINSICS_VLLM_URL")
HERE = Path(__file__).parent


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "vllm: needs a running vLLM (.ci/vllm.sh)")


def pytest_collection_modifyitems(items: Sequence[pytest.Item]) -> None:
    for item in items:
        if item.path.parent == HERE:
            item.add_marker(pytest.mark.vllm)
            if not URL:
                item.add_marker(pytest.mark.skip(reason="RAG_INTRINSICS_VLLM_URL is unset; .ci/vllm.sh sets it"))


class Recorder(ServerRuntime):
    """A server runtime that remembers what it was asked and what came."""

    def __init__(self, *args: object, **config: object) -> None:
        super().__init__(*args, **config)
        self.exchanges: list[tuple[Request, Outcome]] = []

    async def ahandle(self, requests: Sequence[Request]) -> list[Outcome]:
        outcomes = await super().ahandle(requests)
        self.exchanges += zip(requests, outcomes, strict=True)
        return outcomes


def capped(name: str, tokens: int = 48) -> Profile:
    """The profile with replies cut at so many tokens: random weights talk for ever."""

    def cap(request: Request) -> Request:
        if not isinstance(request, Generate):
            return request
        return replace(request, max_tokens=min(tokens, request.max_tokens or tokens))

    def short(form: Format) -> Format:
        return replace(form, render=lambda task: [cap(request) for request in form.render(task)])

    whole = profile(name)
    return replace(whole, formats={key: short(form) for key, form in whole.formats.items()})


@pytest.fixture
def connect() -> Iterator[Callable[..., Recorder]]:
    with ExitStack() as stack:
        yield lambda **config: stack.enter_context(Recorder(URL, timeout=300, **config))
