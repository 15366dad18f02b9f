"""A chat engine's stream that is judged when it ends."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from dataclasses import dataclass, field, fields
from typing import Any

from llama_index.core.chat_engine.types import StreamingAgentChatResponse


@dataclass
class AnnotatedChatStream(StreamingAgentChatResponse):
    """The stream of another, token by token; when it has ended, ``response`` is whole and ``metadata`` has verdicts.

    LlamaIndex's own class has no metadata, and fills its queue from a thread that holds it: so this one reads from it.
    """

    metadata: dict[str, Any] | None = None
    _inner: Any = field(default=None, init=False, repr=False)
    _finish: Any = field(default=None, init=False, repr=False)
    _afinish: Any = field(default=None, init=False, repr=False)
    _finished: bool = field(default=False, init=False, repr=False)

    @classmethod
    def of(
        cls,
        inner: StreamingAgentChatResponse,
        metadata: dict[str, Any],
        finish: Callable[[str], None],
        afinish: Callable[[str], Awaitable[None]],
    ) -> AnnotatedChatStream:
        """
        Args:
            metadata: where ``finish`` and ``afinish`` write, given the whole text.
        """
        kept = {each.name: getattr(inner, each.name) for each in fields(StreamingAgentChatResponse)}
        stream = cls(**kept, metadata=metadata)
        stream._inner, stream._finish, stream._afinish = inner, finish, afinish
        return stream

    @property
    def response_gen(self) -> Generator[str, None, None]:
        yield from self._inner.response_gen
        if self._ends():
            self._finish(self.response)

    async def async_response_gen(self) -> AsyncGenerator[str, None]:
        async for token in self._inner.async_response_gen():
            yield token
        if self._ends():
            await self._afinish(self.response)

    def __str__(self) -> str:
        return self.response or str(self._inner)

    def _ends(self) -> bool:
        """Whether this is the first time that the stream has been read to its end."""
        self.response = self._inner.response or self._inner.unformatted_response.strip()
        self.unformatted_response = self._inner.unformatted_response
        first, self._finished = not self._finished, True
        return first
