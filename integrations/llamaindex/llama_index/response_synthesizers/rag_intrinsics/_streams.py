"""A chat engine's stream that is judged while it is read."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator, Iterator
from dataclasses import dataclass, field, fields
from typing import Any

from llama_index.core.chat_engine.types import StreamingAgentChatResponse


@dataclass
class CheckedChatStream(StreamingAgentChatResponse):
    """The stream of another, token by token; when it has ended, ``response`` is whole and ``metadata`` has verdicts.

    LlamaIndex's own class has no metadata, and fills its queue from a thread that holds it: so this one reads from it.
    """

    metadata: dict[str, Any] | None = None
    _inner: Any = field(default=None, init=False, repr=False)
    _through: Any = field(default=None, init=False, repr=False)
    _athrough: Any = field(default=None, init=False, repr=False)
    _ended: bool = field(default=False, init=False, repr=False)

    @classmethod
    def of(
        cls,
        inner: StreamingAgentChatResponse,
        metadata: dict[str, Any],
        through: Callable[[Iterator[str]], Iterator[str]],
        athrough: Callable[[AsyncIterator[str]], AsyncIterator[str]],
    ) -> CheckedChatStream:
        """Judged by what its tokens pass through, from the first word on: the whole text has no space before it."""
        kept = {each.name: getattr(inner, each.name) for each in fields(StreamingAgentChatResponse)}
        stream = cls(**kept, metadata=metadata)
        stream._inner, stream._through, stream._athrough = inner, through, athrough
        return stream

    @property
    def response_gen(self) -> Generator[str, None, None]:
        tokens, said = self._inner.response_gen, []
        for token in tokens if self._ended else self._through(_from_first_word(tokens)):
            said.append(token)
            yield token
        self._end("".join(said))

    async def async_response_gen(self) -> AsyncGenerator[str, None]:
        tokens, said = self._inner.async_response_gen(), []
        async for token in tokens if self._ended else self._athrough(_afrom_first_word(tokens)):
            said.append(token)
            yield token
        self._end("".join(said))

    def __str__(self) -> str:
        return self.response or str(self._inner)

    def _end(self, said: str) -> None:
        if not self._ended:
            self.response, self.unformatted_response, self._ended = said.strip(), said, True


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
