"""What the prewired pipeline needs between Haystack's own parts: the turns for the generator, and the canned reply."""

from typing import Any

from haystack import component
from haystack.dataclasses import ChatMessage, StreamingCallbackT, StreamingChunk, select_streaming_callback


@component
class ConversationTurns:
    """The system prompt, the turns before, and the turn that the generator is to answer."""

    def __init__(self, system_prompt: str | None = None) -> None:
        self.system_prompt = system_prompt

    @component.output_types(messages=list[ChatMessage])
    def run(
        self, prompt: list[ChatMessage], history: list[ChatMessage] | None = None, system_prompt: str | None = None
    ) -> dict[str, Any]:
        """Put the turns in their order; `system_prompt` overrides the component's own."""
        text = self.system_prompt if system_prompt is None else system_prompt
        return {"messages": [*([ChatMessage.from_system(text)] if text else []), *(history or []), *prompt]}


@component
class CannedReply:
    """What is said instead of an answer. A stream gets it too, or it would stay empty."""

    def __init__(self, text: str) -> None:
        self.text = text

    @component.output_types(replies=list[ChatMessage])
    def run(self, query: str, streaming_callback: StreamingCallbackT | None = None) -> dict[str, Any]:
        """Say it."""
        if (tell := select_streaming_callback(None, streaming_callback, requires_async=False)) is not None:
            tell(self._chunk)
        return {"replies": [ChatMessage.from_assistant(self.text)]}

    @component.output_types(replies=list[ChatMessage])
    async def run_async(self, query: str, streaming_callback: StreamingCallbackT | None = None) -> dict[str, Any]:
        """Say it on the event loop."""
        if streaming_callback is not None and (awaited := streaming_callback(self._chunk)) is not None:
            await awaited
        return {"replies": [ChatMessage.from_assistant(self.text)]}

    @property
    def _chunk(self) -> StreamingChunk:
        return StreamingChunk(self.text, index=0, start=True, finish_reason="stop")
