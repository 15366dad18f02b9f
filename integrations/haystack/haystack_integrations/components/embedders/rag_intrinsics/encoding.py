"""What the two embedders share: a runtime that has vectors."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Literal

from haystack_integrations.common.rag_intrinsics.base import Lifecycle
from haystack_integrations.common.rag_intrinsics.engine import Engine

from intrinsics_core import InvalidInput
from intrinsics_core.embedded.runtime import EmbeddedRuntime


class Embedder(Lifecycle):
    """A component over the embedded runtime's encoder."""

    prefix: str
    suffix: str

    def _keep(self, runtime: Any, prefix: str, suffix: str) -> None:
        self._engine = Engine(runtime)
        self.prefix, self.suffix = prefix, suffix

    def _encoder(self) -> EmbeddedRuntime:
        self.warm_up()
        return _embedding(self._engine.runtime)

    async def _aencoder(self) -> EmbeddedRuntime:
        await self.warm_up_async()
        return _embedding(self._engine.runtime)

    def _meta(self, runtime: EmbeddedRuntime) -> dict[str, Any]:
        return {"model": runtime.encoder.name}


async def aembed(
    encoder: EmbeddedRuntime, texts: Sequence[str], kind: Literal["query", "passage"]
) -> list[list[float]]:
    """The vectors, encoded in a thread: the event loop stays free."""
    return await asyncio.to_thread(encoder.embed, texts, kind=kind)


def _embedding(runtime: Any) -> EmbeddedRuntime:
    if not isinstance(runtime, EmbeddedRuntime):
        raise InvalidInput("runtime has no vectors", expected="the embedded one, {'kind': 'embedded', 'path': FOLDER}",
                           got=type(runtime).__name__)  # fmt: skip
    return runtime
