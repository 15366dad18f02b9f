"""Stream auditor."""

import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from haystack import Document, component
from haystack.dataclasses import ChatMessage, StreamingCallbackT, StreamingChunk
from haystack_integrations.common.rag_intrinsics.base import Intrinsic
from haystack_integrations.common.rag_intrinsics.pipeline_input import PipelineInput

from intrinsics_core import Profile, StreamChecker
from intrinsics_core.chains.notes import KEY
from intrinsics_core.protocol.results import Audit, AuditedSentence
from intrinsics_core.running.steps import Steps, arun_steps, run_steps
from intrinsics_core.runtimes.chat import ended

_CALLS = ("tool_calls", "tool_call_results", "tool_use", "function_call")  # reasons of messages that call tools


@component
class RagIntrinsicsStreamAuditor(Intrinsic):
    """
    Says while an answer is being written which of its sentences the documents support: a UI can underline at once.

    It stands before a chat generator and hands it a streaming callback that passes the chunks on to yours. After a
    chunk that closes a sentence comes one without text, whose `meta["rag_intrinsics"]["sentences"]` has that sentence's
    verdict and citations, for the last sentence, too. Then comes a chunk with the whole
    `meta["rag_intrinsics"]["audit"]`. Offsets are those of the whole answer. The end is the chunk that names a reason
    (`finish_reason`); what follows it, such as the usage, is passed on. Without a callback it does nothing.

    Text behind an end is a new answer, with offsets and an audit of its own: an Agent may have been told to answer
    again. Words that a model says before it calls a tool are no part of the answer.

    A few generators name no reason. Only what runs after such a generator knows that the stream is over: connect
    `RagIntrinsicsStreamEnd` behind it, or call the `finish` of the callback that you got (`afinish`, where yours is
    asynchronous). Of an answer that was audited already they do nothing.

    With `hold=True` a sentence is kept back until it is judged: your callback gets its verdict, then its text. One that
    raises at an unfaithful sentence has not shown it. A sentence is then seen when it has closed and was judged, not
    while it is written.

    Usage example:

    ```python
    from haystack import Document, Pipeline
    from haystack.components.generators.chat import MockChatGenerator
    from haystack.dataclasses import ChatMessage
    from haystack_integrations.components.validators.rag_intrinsics import RagIntrinsicsStreamAuditor

    pipeline = Pipeline()
    pipeline.add_component("auditor", RagIntrinsicsStreamAuditor())
    pipeline.add_component("generator", MockChatGenerator("Ada Brink built it in 1911. She sold purple umbrellas."))
    pipeline.connect("auditor.streaming_callback", "generator.streaming_callback")

    def tell(chunk):
        for sentence in chunk.meta.get("rag_intrinsics", {}).get("audit", {}).get("sentences", []):
            print(sentence["label"])

    question = "Who built the tide mill?"
    documents = [Document(content="Ada Brink built the tide mill in 1911.")]
    pipeline.run({
        "auditor": {"query": question, "documents": documents, "streaming_callback": tell},
        "generator": {"messages": [ChatMessage.from_user(question)]},
    })
    # faithful
    # unfaithful
    ```
    """

    intrinsic: ClassVar[str] = "audit"

    def __init__(
        self,
        runtime: Any = None,
        *,
        meta_fields_to_embed: Sequence[str] | None = None,
        profile: Profile | str | None = None,
        on_error: str = "fallback",
        date: str | None = None,
        hold: bool = False,
    ) -> None:
        """
        Create a stream auditor. Nothing is loaded before `warm_up` or the first run.

        :param runtime: Where the work is done: a config such as `{"kind": "server", "base_url": ..., "api_key":
            Secret}`, a chat generator, or a runtime of the core; None for the embedded encoder (offline, CPU).
        :param meta_fields_to_embed: Fields of the documents' `meta` that the answering model is shown beside the text:
            the judge is shown them too, after the title.
        :param profile: A profile or its name; the runtime's own where left out.
        :param on_error: `"fallback"`: a sentence whose judgement failed is NA, with the reason as its explanation; or
            `"raise"`, which ends the stream.
        :param date: Date text for prompts that carry one; the day of the call where left out.
        :param hold: Whether a sentence is kept back until it is judged.
        """
        self._keep(runtime, profile, on_error, date, meta_fields_to_embed)
        self.hold = hold

    @component.output_types(streaming_callback=StreamingCallbackT | None)
    def run(
        self,
        query: str,
        documents: list[Document],
        streaming_callback: StreamingCallbackT | None = None,
        history: list[ChatMessage] | None = None,
    ) -> dict[str, Any]:
        """
        Make a callback for the generator.

        :param query: The question.
        :param documents: What the answer should rest on.
        :param streaming_callback: Where chunks go.
        :param history: Turns before the question, where it needs them to be understood.
        :returns: `streaming_callback`: for the generator; None where there was none.
        :raises IntrinsicsError: Bad input is an InvalidInput that names it; see `intrinsics_core.protocol.errors`.
        """
        if streaming_callback is None:
            return {"streaming_callback": None}
        self._ready()
        return {"streaming_callback": self._telling(self._read(query, documents, history), streaming_callback)}

    @component.output_types(streaming_callback=StreamingCallbackT | None)
    async def run_async(
        self,
        query: str,
        documents: list[Document],
        streaming_callback: StreamingCallbackT | None = None,
        history: list[ChatMessage] | None = None,
    ) -> dict[str, Any]:
        """Like `run`, without blocking the event loop."""
        if streaming_callback is None:
            return {"streaming_callback": None}
        await self._aready()
        return {"streaming_callback": self._telling(self._read(query, documents, history), streaming_callback)}

    def _telling(self, given: PipelineInput, tell: Any) -> StreamingCallbackT:
        """A callback of the same kind as the one that it calls: Haystack refuses to await in a thread."""

        def checker() -> StreamChecker:
            return StreamChecker(given.messages, given.passages, runtime=self._engine.runtime, profile=self.profile,
                                 on_error=self.on_error, date=self.date)  # type: ignore[arg-type]  # fmt: skip

        audited = _Audited(given, checker, self.hold)

        done: dict[str, Any] = {
            "tell": tell,
            "feed": lambda text: audited.checker.feed(text),
            "close": lambda _: audited.checker.close(),
        }
        adone: dict[str, Any] = {
            "tell": tell,
            "feed": lambda text: audited.checker.afeed(text),
            "close": lambda _: audited.checker.aclose(),
        }

        def heard(chunk: StreamingChunk) -> None:
            run_steps(audited.heard(chunk), done)

        def finish() -> None:
            run_steps(audited.finished(), done)

        async def aheard(chunk: StreamingChunk) -> None:
            await arun_steps(audited.heard(chunk), adone)

        async def afinish() -> None:
            await arun_steps(audited.finished(), adone)

        if _is_async(tell):
            aheard.afinish = afinish  # type: ignore[attr-defined]
            return aheard
        heard.finish = finish  # type: ignore[attr-defined]
        return heard


class _Audited:
    """What goes out of one stream, and in which order. No I/O.

    A stream may have several answers: an Agent calls a tool between them, or is told to answer again. Each answer has a
    checker of its own, so that its offsets count in its own text.
    """

    def __init__(self, given: PipelineInput, new_checker: Callable[[], StreamChecker], hold: bool) -> None:
        self._given, self._new_checker, self._hold = given, new_checker, hold
        self._begin()

    def _begin(self) -> None:
        """Wait for a new answer."""
        self.checker = self._new_checker()
        self._like = StreamingChunk("")  # the last chunk with text that was held back
        self._end: StreamingChunk | None = None  # the one that ends it, held back
        self.ended = False

    def heard(self, chunk: StreamingChunk) -> Steps[None]:
        """What is told of a chunk, and what the checker is asked."""
        if _is_of_a_call(chunk):
            if chunk.content:  # the last words before the call
                yield from self.heard(replace(chunk, finish_reason=None, meta={}))
                chunk = replace(chunk, content="", start=False)
            yield from self.set_aside()
        elif chunk.content and self.ended:
            self._begin()
        for piece in self.passed(chunk):
            yield "tell", piece
        if chunk.content:
            for piece in self.judged((yield "feed", chunk.content)):
                yield "tell", piece
        if _ends(chunk):
            yield from self.finished()
            for piece in self.after():
                yield "tell", piece

    def set_aside(self) -> Steps[None]:
        """What is told where a tool is called: what was said before is no answer. Text that was held back is judged."""
        if self.ended or not self.checker.text:
            return
        if self._hold and self.ends():
            for piece in self.judged(self.checker.left((yield "close", None))):
                yield "tell", piece
        self._begin()

    def finished(self) -> Steps[None]:
        """What is told at the end of an answer that was not audited yet."""
        if self.ends():
            for piece in self.last((yield "close", None)):
                yield "tell", piece

    def passed(self, chunk: StreamingChunk) -> Iterator[StreamingChunk]:
        """What of a chunk goes out at once: all of it; of an answer that is held back what is no text."""
        if not self._hold or self.ended or not (chunk.content or _ends(chunk)):
            yield chunk
            return
        self._like = chunk if chunk.content else self._like
        if _ends(chunk):
            self._end = replace(chunk, content="")
        elif chunk.start:
            yield replace(chunk, content="")

    def judged(self, sentences: Sequence[AuditedSentence]) -> Iterator[StreamingChunk]:
        """The verdicts of sentences that closed, and then their text where it was held back."""
        if sentences:
            yield _sentences(self._given, sentences)
        if self._hold and (sentences or self.ended) and (text := self.checker.release()):
            yield replace(self._like, content=text, start=False, finish_reason=None)

    def ends(self) -> bool:
        """Whether this is the end of an answer that was not audited yet."""
        first = not self.ended and bool(self.checker.text.strip())
        self.ended = self.ended or first
        return first

    def last(self, whole: Audit) -> Iterator[StreamingChunk]:
        """The sentences that closed with the end, and the audit."""
        yield from self.judged(self.checker.left(whole))
        yield _chunk({"audit": self._given.as_dict(whole)})

    def after(self) -> Iterator[StreamingChunk]:
        """The chunk that ended an answer that was held back."""
        end, self._end = self._end, None
        if end is not None:
            yield end


@component
class RagIntrinsicsStreamEnd:
    """
    Ends the stream of a generator that does not say when it is over: the audit follows, and what was held back.

    It stands behind the generator and takes the callback of `RagIntrinsicsStreamAuditor`. Where the generator names a
    `finish_reason` it does nothing.

    Usage example:

    ```python
    from haystack import Document, Pipeline
    from haystack.components.generators.chat import MockChatGenerator
    from haystack.dataclasses import ChatMessage
    from haystack_integrations.components.validators.rag_intrinsics import (
        RagIntrinsicsStreamAuditor,
        RagIntrinsicsStreamEnd,
    )

    pipeline = Pipeline()
    pipeline.add_component("auditor", RagIntrinsicsStreamAuditor())
    pipeline.add_component("generator", MockChatGenerator("Ada Brink built it in 1911."))
    pipeline.add_component("end", RagIntrinsicsStreamEnd())
    pipeline.connect("auditor.streaming_callback", "generator.streaming_callback")
    pipeline.connect("auditor.streaming_callback", "end.streaming_callback")
    pipeline.connect("generator.replies", "end.replies")
    question = "Who built the tide mill?"
    result = pipeline.run({
        "auditor": {
            "query": question,
            "documents": [Document(content="Ada Brink built the tide mill in 1911.")],
            "streaming_callback": lambda chunk: None,
        },
        "generator": {"messages": [ChatMessage.from_user(question)]},
    })
    print(result["end"]["replies"][0].text)
    # Ada Brink built it in 1911.
    ```
    """

    @component.output_types(replies=list[ChatMessage])
    def run(self, replies: list[ChatMessage], streaming_callback: StreamingCallbackT | None = None) -> dict[str, Any]:
        """
        End the stream.

        :param replies: What the generator returned, which says that it has ended.
        :param streaming_callback: The auditor's; None where nothing was streamed.
        :returns: `replies`, as they came.
        :raises IntrinsicsError: The answer could not be judged, and the auditor has `on_error="raise"`.
        """
        if finish := getattr(streaming_callback, "finish", None):
            finish()
        return {"replies": replies}

    @component.output_types(replies=list[ChatMessage])
    async def run_async(
        self, replies: list[ChatMessage], streaming_callback: StreamingCallbackT | None = None
    ) -> dict[str, Any]:
        """Like `run`, without blocking the event loop."""
        if afinish := getattr(streaming_callback, "afinish", None):
            await afinish()
            return {"replies": replies}
        found: dict[str, Any] = self.run(replies, streaming_callback)
        return found


def _is_async(tell: Any) -> bool:
    return inspect.iscoroutinefunction(tell) or inspect.iscoroutinefunction(getattr(tell, "__call__", None))  # noqa: B004


def _is_of_a_call(chunk: StreamingChunk) -> bool:
    """Whether a chunk calls a tool or says that one was called: the answer comes later."""
    return bool(chunk.tool_calls) or _reason(chunk) in _CALLS


def _ends(chunk: StreamingChunk) -> bool:
    """Whether a chunk says that it is the last one with text; what follows, such as the usage, says nothing of it."""
    return not _is_of_a_call(chunk) and bool(_reason(chunk) or chunk.meta.get("done"))  # "done": older ones of Ollama


def _reason(chunk: StreamingChunk) -> str | None:
    return chunk.finish_reason or ended(chunk.meta)


def _sentences(given: PipelineInput, judged: Sequence[AuditedSentence]) -> StreamingChunk:
    return _chunk({"sentences": given.placed([sentence.model_dump(mode="json") for sentence in judged])})


def _chunk(verdicts: dict[str, Any]) -> StreamingChunk:
    return StreamingChunk("", meta={KEY: verdicts})
