"""Uncertainty scorer."""

from collections.abc import Sequence
from typing import Any, ClassVar

from haystack import Document, component
from haystack.dataclasses import ChatMessage
from haystack_integrations.common.rag_intrinsics.base import ReplyIntrinsic
from haystack_integrations.common.rag_intrinsics.pipeline_input import PipelineInput

from intrinsics_core import Profile


@component
class RagIntrinsicsUncertaintyScorer(ReplyIntrinsic):
    """
    Says how certain an answer is, or, without one, how certain an answer would be: 0.05, 0.15 … 0.95.

    Replies come out as copies with `meta["rag_intrinsics"]["uncertainty"]`.

    Usage example:

    ```python
    from haystack import Document
    from haystack_integrations.components.evaluators.rag_intrinsics import RagIntrinsicsUncertaintyScorer

    documents = [Document(id="mill", content="Ada Brink built the tide mill in 1911.")]
    scorer = RagIntrinsicsUncertaintyScorer()
    result = scorer.run(query="Who built the tide mill?", replies=["Ada Brink built it."], documents=documents)
    print(result["results"][0]["certainty"])
    ```
    """

    intrinsic: ClassVar[str] = "uncertainty"
    _without_replies: ClassVar[Sequence[None]] = (None,)  # certainty before answering

    def __init__(
        self,
        runtime: Any = None,
        *,
        meta_fields_to_embed: Sequence[str] | None = None,
        profile: Profile | str | None = None,
        on_error: str | None = None,
        date: str | None = None,
    ) -> None:
        """
        Create a uncertainty scorer. Nothing is loaded before `warm_up` or the first run.

        :param runtime: Where the work is done: a config such as `{"kind": "server", "base_url": ..., "api_key":
            Secret}`, a chat generator, or a runtime of the core; None for the embedded encoder (offline, CPU).
        :param meta_fields_to_embed: Fields of the documents' `meta` that the answering model is shown beside the text:
            the judge is shown them too, after the title.
        :param profile: A profile or its name; the runtime's own where left out.
        :param on_error: `"raise"`, or `"fallback"`: no certainty, and the result says that it is degraded and why.
            None: `"fallback"` for replies, which a failing judge must not cost, `"raise"` where there is none yet.
        :param date: Date text for prompts that carry one; the day of the call where left out.
        """
        self._keep(runtime, profile, on_error or "fallback", date, meta_fields_to_embed)
        self.on_error = on_error  # of which each run makes its own choice

    @component.output_types(replies=list[ChatMessage], results=list[dict[str, Any]])
    def run(
        self,
        query: str,
        replies: list[str] | list[ChatMessage] | None = None,
        documents: list[Document] | None = None,
        history: list[ChatMessage] | None = None,
    ) -> dict[str, Any]:
        """
        Score certainty.

        :param query: The question.
        :param replies: Answers to it, as generators return them; left out, certainty before answering.
        :param documents: What the answer rests on, if anything.
        :param history: Turns before the question, where it needs them to be understood.
        :returns: `replies`: copies, the certainty in `meta`; `results`: one per reply, or one where there is none.
        :raises IntrinsicsError: Bad input is an InvalidInput that names it; see `intrinsics_core.protocol.errors`.
        """
        return self._judged(query, replies, documents, history)

    @component.output_types(replies=list[ChatMessage], results=list[dict[str, Any]])
    async def run_async(
        self,
        query: str,
        replies: list[str] | list[ChatMessage] | None = None,
        documents: list[Document] | None = None,
        history: list[ChatMessage] | None = None,
    ) -> dict[str, Any]:
        """Like `run`, without blocking the event loop."""
        return await self._ajudged(query, replies, documents, history)

    def _known(self, reply: ChatMessage | None, given: PipelineInput) -> dict[str, Any]:
        return {"on_error": self.on_error or ("raise" if reply is None else "fallback")}
