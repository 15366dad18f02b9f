"""What a runtime with a language model in this process is: the model is loaded at the first request, and shared."""

from __future__ import annotations

import gc
from abc import abstractmethod
from collections.abc import Sequence
from typing import Protocol

from intrinsics_core._support.fork_safety import Lock
from intrinsics_core.protocol.requests import Outcome, Request
from intrinsics_core.runtimes.base import BlockingRuntime
from intrinsics_core.runtimes.configs import LocalConfig
from intrinsics_core.runtimes.configured import ConfiguredRuntime


class LocalEngine(Protocol):
    """A loaded model. Not safe between threads."""

    def answer(self, requests: Sequence[Request]) -> list[Outcome]: ...

    def stop(self) -> None: ...


class LocalRuntime(ConfiguredRuntime, BlockingRuntime):
    """Serves generating profiles. Safe to share between threads: they take turns."""

    config: LocalConfig

    def prepare(self) -> None:
        self.model, self.concurrency = self.config.model, self.config.concurrency
        self._lock = Lock()
        self._engine: LocalEngine | None = None

    @abstractmethod
    def load(self) -> LocalEngine:
        """Load the model."""

    def handle(self, requests: Sequence[Request]) -> list[Outcome]:
        with self._lock:
            if self._engine is None:
                self._engine = self.load()
            return self._engine.answer(requests)

    def close(self) -> None:
        with self._lock:
            engine, self._engine = self._engine, None
            if engine is not None:
                engine.stop()
                del engine
                gc.collect()  # modules and their hooks form cycles

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.config.model!r}, adapters={self.config.adapters or {}!r})"
