"""Stream auditor."""

import inspect
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from haystack import Document, component
from haystack.dataclasses import ChatMessage, StreamingCallbackT, StreamingChunk
from haystack_integrations.common.rag_intrinsics.base import Intrinsic
from haystack_integrations.common.rag_intrinsics.pipeline_input import KEY, PipelineInput

from intrinsics_core import Profile, StreamChecker
from intrinsics_core.protocol.results import Audit, AuditedSentence

# By what generators end a stream, beside `finish_reason`: Haystack's older ones, Ollama, Anthropic.
_ENDS = ("finish_reason", "done_reason", "done", "stop_reason")


@component
class RagIntrinsicsStreamAuditor(Intrinsic):
    """
    Says while an answer is being written which of its sentences the documents support: a UI can underline at once.

    It stands before a chat generator and hands it a streaming callback that passes the chunks on to yours. After a
    chunk that closes a sentence comes one without text, whose `meta["rag_intrinsics"]["sentences"]` has that sentence's
    verdict and citations, for the last sentence, too. Then comes a chunk with the whole
    `meta["rag_intrinsics"]["audit"]`. Offsets are those of the whole answer. The end is the chunk that names a reason
    (`finish_reason`); what follows it, such as the usage, is passed on. Without a callback it does nothing.

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
        """
        self._keep(runtime, profile, on_error, date, meta_fields_to_embed)

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
        checker = StreamChecker(given.messages, given.passages, runtime=self._engine.runtime, profile=self.profile,
                                on_error=self.on_error, date=self.date)  # type: ignore[arg-type]  # fmt: skip

        ended = False

        def heard(chunk: StreamingChunk) -> None:
            nonlocal ended
            tell(chunk)
            if ended:
                return
            if judged := checker.feed(chunk.content):
                tell(_sentences(given, judged))
            if (ended := _ends(chunk)) and checker.text.strip():
                for piece in _last(given, checker, checker.close()):
                    tell(piece)

        async def aheard(chunk: StreamingChunk) -> None:
            nonlocal ended
            await tell(chunk)
            if ended:
                return
            if judged := await checker.afeed(chunk.content):
                await tell(_sentences(given, judged))
            if (ended := _ends(chunk)) and checker.text.strip():
                for piece in _last(given, checker, await checker.aclose()):
                    await tell(piece)

        return aheard if _is_async(tell) else heard


def _is_async(tell: Any) -> bool:
    return inspect.iscoroutinefunction(tell) or inspect.iscoroutinefunction(getattr(tell, "__call__", None))  # noqa: B004


def _ends(chunk: StreamingChunk) -> bool:
    """Whether a chunk says that it is the last one with text; what follows, such as the usage, says nothing of it."""
    return bool(chunk.finish_reason or any(chunk.meta.get(name) for name in _ENDS))


def _last(given: PipelineInput, checker: StreamChecker, whole: Audit) -> Iterator[StreamingChunk]:
    """The sentences that closed with the end, and the audit."""
    if left := checker.left(whole):
        yield _sentences(given, left)
    yield _chunk({"audit": given.told(whole)})


def _sentences(given: PipelineInput, judged: Sequence[AuditedSentence]) -> StreamingChunk:
    return _chunk({"sentences": given.placed([sentence.model_dump(mode="json") for sentence in judged])})


def _chunk(told: dict[str, Any]) -> StreamingChunk:
    return StreamingChunk("", meta={KEY: told})
