"""The base of components that judge an answer: the answer comes out again, with the verdict in its metadata.

A streaming answer is not held back: its chunks pass as they come, and the verdict follows as one last chunk.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any

from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.utils import AddableDict

from intrinsics_core import Call
from intrinsics_core.protocol.results import Result
from langchain_rag_intrinsics._inputs import ANSWER, ChainInput, as_answer, is_structured, kept
from langchain_rag_intrinsics._intrinsic import Intrinsic
from langchain_rag_intrinsics._verdicts import is_canned, verdict, with_verdict

Content = str | list[str | dict[Any, Any]]


class AnswerIntrinsic(Intrinsic):
    """Takes a mapping with ``question`` or ``messages``, ``documents`` and ``answer`` (or ``messages`` that end with
    the answer); returns a copy of the answer as an AIMessage whose ``response_metadata["rag_intrinsics"]`` holds the
    verdict under the intrinsic's name. A gate's canned answer passes as it is: it claims nothing.

    Where the judgement fails the answer passes all the same, with a verdict that says that it is degraded and why,
    unless ``on_error="raise"``.
    """

    def stream(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Iterator[Any]:
        yield from self.transform(iter([input]), config, **kwargs)

    def transform(self, input: Iterator[Any], config: RunnableConfig | None = None, **kwargs: Any) -> Iterator[Any]:
        yield from self._transform_stream_with_config(input, self._pass, config, **kwargs)

    async def astream(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> AsyncIterator[Any]:
        async def single() -> AsyncIterator[Any]:
            yield input

        async for chunk in self.atransform(single(), config, **kwargs):
            yield chunk

    async def atransform(
        self, input: AsyncIterator[Any], config: RunnableConfig | None = None, **kwargs: Any
    ) -> AsyncIterator[Any]:
        async for chunk in self._atransform_stream_with_config(input, self._apass, config, **kwargs):
            yield chunk

    def _pass(self, pieces: Iterator[Any]) -> Iterator[Any]:
        stream = AnswerStream(self)
        for piece in pieces:
            yield from stream.take(piece)
        given = self._read(stream.value)
        canned = self._without_asking(given) is not None
        yield from stream.close(given, None if canned else self._result(given))

    async def _apass(self, pieces: AsyncIterator[Any]) -> AsyncIterator[Any]:
        stream = AnswerStream(self)
        async for piece in pieces:
            for chunk in stream.take(piece):
                yield chunk
        given = self._read(stream.value)
        canned = self._without_asking(given) is not None
        for chunk in stream.close(given, None if canned else await self._aresult(given)):
            yield chunk

    def _without_asking(self, given: ChainInput) -> Any:
        return given.answer if is_canned(given.answer) and not self.return_result else None

    def _ask(self, given: ChainInput) -> Call[Any]:
        # Of a canned answer a result says what it says of an answer without words.
        return super()._ask(given.unanswered if is_canned(given.answer) else given)

    def _tell(self, value: Any, given: ChainInput, result: Result) -> Any:
        return result if given.answer is None else self._annotated(given.answer, given, result)

    def _annotated(self, answer: AIMessage, given: ChainInput, result: Any) -> AIMessage:
        """A copy of the answer with the verdict."""
        metadata = with_verdict(answer.response_metadata, self._metadata(answer, given, result))
        content = self._marked(answer, given, result)
        return answer.model_copy(update={"content": content, "response_metadata": metadata})

    @property
    def _holds_back(self) -> bool:
        """Whether a stream waits for the whole answer, because the result changes what is in it."""
        return False

    def _metadata(self, answer: AIMessage, given: ChainInput, result: Result) -> dict[str, Any]:
        return verdict(self.intrinsic, result)

    def _marked(self, answer: AIMessage, given: ChainInput, result: Any) -> Content:
        """The answer's content, with what the result adds to it."""
        return answer.content

    def _passed(self, chunk: AIMessageChunk) -> AIMessageChunk:
        """A chunk in the form in which the last one can add to it."""
        return chunk

    def _added(self, passed: AIMessageChunk, given: ChainInput, result: Any) -> Content:
        """What the result adds to the content of the chunks that have passed."""
        return ""


class AnswerStream:
    """The state of one streamed answer; no I/O.

    ``value`` is the whole input so far, ``passed`` the sum of what went out. With ``hold`` the answer's text goes out
    by `release` alone. A structured answer goes out at the end: a parser of JSON gives it again and again as it grows.
    """

    def __init__(self, intrinsic: AnswerIntrinsic, hold: bool = False) -> None:
        self.intrinsic, self.hold = intrinsic, hold
        self.text = ""
        self._id: str | None = None
        self.value: Any = None
        self.passed: AIMessageChunk | None = None

    def take(self, piece: Any) -> Iterator[AIMessageChunk]:
        """Keep a piece of the input; the part of the answer that is in it goes out."""
        piece = kept(piece)
        if not isinstance(piece, Mapping):
            self.value = piece if self.value is None else self.value + piece
            return
        part = next((piece[name] for name in ANSWER if piece.get(name) is not None), None)
        structured = is_structured(part)
        before = self.value or {}
        if structured and not isinstance(part, AddableDict):  # it takes the place of the one before
            before = {name: value for name, value in before.items() if name not in ANSWER}
        self.value = AddableDict(before) + AddableDict(piece)
        if part is not None and not structured and not self.intrinsic.return_result and not self.intrinsic._holds_back:
            answer = as_answer(part, self.intrinsic.intrinsic)
            self.text, self._id = self.text + str(answer.text), self._id or answer.id
            if not self.hold:
                yield self._out(answer)
            elif rest := _beside_text(answer):
                yield self._out(rest)

    def release(self, text: str) -> Iterator[AIMessageChunk]:
        """Text that was held back."""
        if text:
            yield self._out(AIMessageChunk(content=text, id=self._id))

    def close(self, given: ChainInput, result: Result | None) -> Iterator[Any]:
        intrinsic, answer = self.intrinsic, given.answer
        if result is not None and (intrinsic.return_result or answer is None):
            yield result
            return
        assert answer is not None
        if intrinsic._holds_back and result is not None:
            whole = _chunk(intrinsic._annotated(answer, given, result))
            yield whole.model_copy(update={"chunk_position": "last"})
            return
        if self.passed is None:  # the answer came as the last of the messages
            yield self._out(answer)
        assert self.passed is not None
        if result is None:
            yield AIMessageChunk(content="", id=self.passed.id, chunk_position="last")
            return
        yield AIMessageChunk(
            content=intrinsic._added(self.passed, given, result),
            response_metadata=intrinsic._metadata(answer, given, result),
            id=self.passed.id,
            chunk_position="last",
        )

    def _out(self, part: AIMessage) -> AIMessageChunk:
        chunk = self.intrinsic._passed(_chunk(part))
        self.passed = chunk if self.passed is None else self.passed + chunk
        return chunk


def _beside_text(message: AIMessage) -> AIMessageChunk | None:
    """What a message has beside its text: tool calls, usage, other blocks; None for nothing."""
    others = [block for block in message.content if isinstance(block, dict) and block.get("type") != "text"]
    rest = _chunk(message.model_copy(update={"content": others or ""}))
    parts = (rest.content, rest.tool_call_chunks, rest.usage_metadata, rest.response_metadata, rest.additional_kwargs)
    return rest if any(parts) else None


def _chunk(message: AIMessage) -> AIMessageChunk:
    """The same as a chunk, which is not the last: the verdict follows."""
    if isinstance(message, AIMessageChunk):
        return message if message.chunk_position is None else message.model_copy(update={"chunk_position": None})
    return AIMessageChunk.model_validate(message.model_dump(exclude={"type"}))
