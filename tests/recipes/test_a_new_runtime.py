"""AGENTS.md, "A new runtime": a class with one method, a config, and a call of `register`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

import pytest

from intrinsics_core import BlockingRuntime, InvalidInput, answerability, as_runtime, run
from intrinsics_core.profiles import profile
from intrinsics_core.protocol.requests import Generate, Generated, Outcome, Request
from intrinsics_core.runtimes import Config, register, unregister
from intrinsics_core.runtimes.base import unsupported


class PessimistConfig(Config):
    kind: Literal["pessimist"] = "pessimist"
    doubt: float = 1.0


class Pessimist(BlockingRuntime):
    """Finds everything unanswerable."""

    def __init__(self, doubt: float = 1.0) -> None:
        self.profile, self.doubt = profile("prompted"), doubt

    def handle(self, requests: Sequence[Request]) -> list[Outcome]:
        return [self._outcome(request) for request in requests]

    def _outcome(self, request: Request) -> Outcome:
        if not isinstance(request, Generate):
            return unsupported("pessimist", request)
        return Generated(f'{{"answerability": "unanswerable", "confidence": {self.doubt}}}')


@pytest.fixture(autouse=True)
def kind() -> Iterator[None]:
    register(PessimistConfig, Pessimist)
    yield
    unregister("pessimist")


def test_its_config_is_taken_wherever_a_runtime_is() -> None:
    asked = answerability([{"role": "user", "content": "When does it land?"}], ["The ferry lands at noon."])
    assert run(asked, {"kind": "pessimist", "doubt": 0.75}).probability == pytest.approx(0.25)
    assert run(asked, PessimistConfig()).label == "unanswerable"
    routes = {"answerability": {"kind": "pessimist"}, "*": {"kind": "embedded"}}
    assert run(asked, {"kind": "mixed", "routes": routes}).probability == 0.0


def test_errors_name_its_fields() -> None:
    with pytest.raises(InvalidInput, match=r"runtime\.doubt"):
        as_runtime({"kind": "pessimist", "doubt": "much"})
    with pytest.raises(InvalidInput, match=r"unknown keys.*'hope'"):
        as_runtime({"kind": "pessimist", "hope": 1})
    with pytest.raises(InvalidInput, match=r"routes\.answerability: runtime\.doubt"):
        as_runtime({"kind": "mixed", "routes": {"answerability": {"kind": "pessimist", "doubt": "much"}}})


def test_a_kind_is_taken_once_and_needs_its_name() -> None:
    with pytest.raises(InvalidInput, match="pessimist"):
        register(PessimistConfig, Pessimist)

    class Nameless(Config):
        pass

    with pytest.raises(InvalidInput, match=r"Nameless\.kind"):
        register(Nameless, Pessimist)
