"""What a runtime with a language model in this process is: the model is loaded at the first request, and shared."""

from __future__ import annotations

import gc
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Generic, TypeVar

from intrinsics_core._support.fork_safety import Lock
from intrinsics_core.protocol.errors import as_intrinsics_error
from intrinsics_core.protocol.requests import Generate, Outcome, Request
from intrinsics_core.runtimes.base import BlockingRuntime, unsupported
from intrinsics_core.runtimes.configs import LocalConfig
from intrinsics_core.runtimes.configured import ConfiguredRuntime

Job = TypeVar("Job")


class LocalEngine(ABC, Generic[Job]):
    """A loaded model. Not safe between threads."""

    kind: ClassVar[str]  # of the runtime's config

    def answer(self, requests: Sequence[Request]) -> list[Outcome]:
        outcomes: dict[int, Outcome] = {}
        jobs: list[Job] = []
        for at, request in enumerate(requests):
            try:
                if not isinstance(request, Generate):
                    raise unsupported(self.kind, request)
                jobs.append(self._planned(at, request))
            except Exception as error:
                outcomes[at] = as_intrinsics_error(error).named(request.intrinsic)
        self._answer(jobs, outcomes)
        return [outcomes[i] for i in range(len(requests))]

    @abstractmethod
    def _planned(self, at: int, request: Generate) -> Job:
        """Everything that can be wrong with one request is found here, where it costs no other.

        Args:
            at: its place among the requests.
        """

    @abstractmethod
    def _answer(self, jobs: list[Job], outcomes: dict[int, Outcome]) -> None:
        """Ask the model; the outcome of each job by its place."""

    @abstractmethod
    def stop(self) -> None: ...


class LocalRuntime(ConfiguredRuntime, BlockingRuntime):
    """Serves generating profiles. Safe to share between threads: they take turns."""

    config: LocalConfig

    def prepare(self) -> None:
        self.model, self.concurrency = self.config.model, self.config.concurrency
        self._lock = Lock()
        self._engine: LocalEngine[Any] | None = None

    @abstractmethod
    def load(self) -> LocalEngine[Any]:
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
