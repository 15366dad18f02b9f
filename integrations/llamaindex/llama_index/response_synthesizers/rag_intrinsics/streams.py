"""A chat engine's stream that is judged when it ends."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Generator, Iterator
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
    _over: Any = field(default=None, init=False, repr=False)
    _aover: Any = field(default=None, init=False, repr=False)
    _finished: bool = field(default=False, init=False, repr=False)

    @classmethod
    def of(
        cls,
        inner: StreamingAgentChatResponse,
        metadata: dict[str, Any],
        finish: Callable[[str], None],
        afinish: Callable[[str], Awaitable[None]],
    ) -> AnnotatedChatStream:
        """Judged when it has ended.

        Args:
            metadata: where ``finish`` and ``afinish`` write, given the whole text.
        """
        kept = {each.name: getattr(inner, each.name) for each in fields(StreamingAgentChatResponse)}
        stream = cls(**kept, metadata=metadata)
        stream._inner, stream._finish, stream._afinish = inner, finish, afinish
        return stream

    @classmethod
    def judged_on_the_way(
        cls,
        inner: StreamingAgentChatResponse,
        metadata: dict[str, Any],
        over: Callable[[Iterator[str]], Iterator[str]],
        aover: Callable[[AsyncIterator[str]], AsyncIterator[str]],
    ) -> AnnotatedChatStream:
        """Judged by what its tokens pass through, from the first word on: the whole text has no space before it."""

        async def nothing(_: str) -> None:
            pass

        stream = cls.of(inner, metadata, lambda _: None, nothing)
        stream._over, stream._aover = over, aover
        return stream

    @property
    def response_gen(self) -> Generator[str, None, None]:
        tokens = self._inner.response_gen
        yield from self._over(_from_first_word(tokens)) if self._over and not self._finished else tokens
        if self._ends():
            self._finish(self.response)

    async def async_response_gen(self) -> AsyncGenerator[str, None]:
        tokens = self._inner.async_response_gen()
        async for token in self._aover(_afrom_first_word(tokens)) if self._aover and not self._finished else tokens:
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


def _from_first_word(tokens: Iterator[str]) -> Iterator[str]:
    begun = False
    for token in tokens:
        begun, token = begun or bool(token.strip()), token if begun else token.lstrip()
        if token:
            yield token


async def _afrom_first_word(tokens: AsyncIterator[str]) -> AsyncIterator[str]:
    begun = False
    async for token in tokens:
        begun, token = begun or bool(token.strip()), token if begun else token.lstrip()
        if token:
            yield token
