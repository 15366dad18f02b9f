"""What the two embedders share: a runtime that has vectors."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import Any, Literal

from haystack_integrations.common.rag_intrinsics.base import Lifecycle

from intrinsics_core import InvalidInput
from intrinsics_core.embedded.runtime import EmbeddedRuntime

Batches = Iterable[Sequence[str]]
Vectors = tuple[list[list[float]], dict[str, Any]]  # and the name of the model
Kind = Literal["query", "passage"]


class Embedder(Lifecycle):
    """A component over the embedded runtime's encoder."""

    def _embedded(self, batches: Batches, kind: Kind) -> Vectors:
        self.warm_up()
        encoder = self._encoder()
        return [vector for texts in batches for vector in encoder.embed(texts, kind=kind)], {
            "model": encoder.encoder.name
        }

    async def _aembedded(self, batches: Batches, kind: Kind) -> Vectors:
        """Encoded in a thread: the event loop stays free."""
        await self.warm_up_async()
        encoder, vectors = self._encoder(), []
        for texts in batches:
            vectors += await asyncio.to_thread(encoder.embed, texts, kind=kind)
        return vectors, {"model": encoder.encoder.name}

    def _encoder(self) -> EmbeddedRuntime:
        runtime = self._engine.held_by(self)
        if not isinstance(runtime, EmbeddedRuntime):
            raise InvalidInput("runtime has no vectors", got=type(runtime).__name__,
                               expected="the embedded one, {'kind': 'embedded', 'path': FOLDER}")  # fmt: skip
        return runtime
