"""What a UI hears while a model writes: its chunks, and the verdicts on what they say."""

import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from haystack.dataclasses import StreamingCallbackT, StreamingChunk
from haystack_integrations.common.rag_intrinsics.pipeline_input import PipelineInput

from intrinsics_core import StreamChecker
from intrinsics_core.chains.notes import KEY
from intrinsics_core.protocol.results import Audit, AuditedSentence
from intrinsics_core.running.steps import Steps, arun_steps, run_steps
from intrinsics_core.runtimes.chat import ended

_CALLS = ("tool_calls", "tool_call_results", "tool_use", "function_call")  # reasons of messages that call tools


def audited(
    given: PipelineInput, new_checker: Callable[[], StreamChecker], tell: Any, *, hold: bool
) -> StreamingCallbackT:
    """A callback of the same kind as the one that it calls: Haystack refuses to await in a thread.

    Its ``finish``, or ``afinish`` of an asynchronous one, ends a stream whose generator names no end.
    """
    stream = _Audited(given, new_checker, hold)

    def steps(feed: str, close: str) -> dict[str, Any]:
        return {"tell": tell, "feed": lambda text: getattr(stream.checker, feed)(text),
                "close": lambda _: getattr(stream.checker, close)()}  # fmt: skip

    if inspect.iscoroutinefunction(tell) or inspect.iscoroutinefunction(getattr(tell, "__call__", None)):  # noqa: B004
        awaited = steps("afeed", "aclose")

        async def aheard(chunk: StreamingChunk) -> None:
            await arun_steps(stream.heard(chunk), awaited)

        aheard.afinish = lambda: arun_steps(stream.finished(), awaited)  # type: ignore[attr-defined]
        return aheard
    done = steps("feed", "close")

    def heard(chunk: StreamingChunk) -> None:
        run_steps(stream.heard(chunk), done)

    heard.finish = lambda: run_steps(stream.finished(), done)  # type: ignore[attr-defined]
    return heard


class _Audited:
    """What goes out of one stream, and in which order. No I/O.

    A stream may have several answers, as an Agent's has. Each has a checker of its own: offsets count in its own text.
    """

    def __init__(self, given: PipelineInput, new_checker: Callable[[], StreamChecker], hold: bool) -> None:
        self._given, self._new_checker, self._hold = given, new_checker, hold
        self._begin()

    def _begin(self) -> None:
        """Wait for a new answer."""
        self.checker = self._new_checker()
        self._like = StreamingChunk("")  # the last chunk with text that was held back
        self._end: StreamingChunk | None = None  # the one that ends it, held back
        self._ended = False

    def heard(self, chunk: StreamingChunk) -> Steps[None]:
        """What is told of a chunk, and what the checker is asked."""
        if _is_of_a_call(chunk):
            if chunk.content:  # the last words before the call
                yield from self.heard(replace(chunk, finish_reason=None, meta={}))
                chunk = replace(chunk, content="", start=False)
            yield from self._set_aside()
        elif chunk.content and self._ended:
            self._begin()
        yield from _told(self._passed(chunk))
        if chunk.content:
            yield from _told(self._judged((yield "feed", chunk.content)))
        if _ends(chunk):
            yield from self.finished()
            yield from _told([self._end] if self._end else [])
            self._end = None

    def finished(self) -> Steps[None]:
        """What is told at the end of an answer that was not audited yet."""
        if self._ends():
            whole: Audit = yield "close", None
            yield from _told(self._judged(self.checker.left(whole)))
            yield "tell", _chunk({"audit": self._given.as_dict(whole)})

    def _set_aside(self) -> Steps[None]:
        """What is told where a tool is called: what was said before is no answer. Text that was held back is judged."""
        if self._ended or not self.checker.text:
            return
        if self._hold and self._ends():
            yield from _told(self._judged(self.checker.left((yield "close", None))))
        self._begin()

    def _passed(self, chunk: StreamingChunk) -> Iterator[StreamingChunk]:
        """What of a chunk goes out at once: all of it; of an answer that is held back what is no text."""
        if not self._hold or self._ended or not (chunk.content or _ends(chunk)):
            yield chunk
            return
        self._like = chunk if chunk.content else self._like
        if _ends(chunk):
            self._end = replace(chunk, content="")
        elif chunk.start:
            yield replace(chunk, content="")

    def _judged(self, sentences: Sequence[AuditedSentence]) -> Iterator[StreamingChunk]:
        """The verdicts of sentences that closed, and then their text where it was held back."""
        if sentences:
            rows = [sentence.model_dump(mode="json") for sentence in sentences]
            yield _chunk({"sentences": self._given.placed(rows)})
        if self._hold and (sentences or self._ended) and (text := self.checker.release()):
            yield replace(self._like, content=text, start=False, finish_reason=None)

    def _ends(self) -> bool:
        """Whether this is the end of an answer that was not audited yet."""
        first = not self._ended and bool(self.checker.text.strip())
        self._ended = self._ended or first
        return first


def _told(chunks: Iterator[StreamingChunk] | Sequence[StreamingChunk]) -> Steps[None]:
    for chunk in chunks:
        yield "tell", chunk


def _is_of_a_call(chunk: StreamingChunk) -> bool:
    """Whether a chunk calls a tool or says that one was called: the answer comes later."""
    return bool(chunk.tool_calls) or _reason(chunk) in _CALLS


def _ends(chunk: StreamingChunk) -> bool:
    """Whether a chunk says that it is the last one with text; what follows, such as the usage, says nothing of it."""
    return not _is_of_a_call(chunk) and bool(_reason(chunk) or chunk.meta.get("done"))  # "done": older ones of Ollama


def _reason(chunk: StreamingChunk) -> str | None:
    return chunk.finish_reason or ended(chunk.meta)


def _chunk(verdicts: dict[str, Any]) -> StreamingChunk:
    return StreamingChunk("", meta={KEY: verdicts})
