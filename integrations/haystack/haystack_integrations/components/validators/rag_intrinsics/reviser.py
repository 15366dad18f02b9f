"""Reviser."""

from collections.abc import Sequence
from typing import Any, ClassVar

from haystack import Document, component
from haystack.dataclasses import ChatMessage
from haystack_integrations.common.rag_intrinsics.base import History, Intrinsic, Replies, ReplyIntrinsic
from haystack_integrations.common.rag_intrinsics.pipeline_input import PipelineInput, is_structured, with_text

from intrinsics_core import IntrinsicsError, Profile
from intrinsics_core.chains.notes import KEY, known_detection, signed
from intrinsics_core.protocol.results import RevisedAnswer
from intrinsics_core.running.steps import Steps


@component
class RagIntrinsicsReviser(ReplyIntrinsic):
    """
    Mends or drops what the documents do not support in an answer, and checks it again.

    No other sentence is touched. Without a language model the unfaithful sentences are dropped. Replies come out as
    copies with the new text and `meta["rag_intrinsics"]["revise"]`: each change, with its reason, and what is still not
    supported; verdicts on the text as it was are taken out. A check before it, with `citations=None`, saves the first
    judgement.

    Usage example:

    ```python
    from haystack import Document
    from haystack_integrations.components.validators.rag_intrinsics import RagIntrinsicsReviser

    documents = [Document(id="mill", content="Ada Brink built the tide mill in 1911.")]
    result = RagIntrinsicsReviser().run(
        query="Who built the tide mill?",
        documents=documents,
        replies=["Ada Brink built the tide mill in 1911. She sold umbrellas."],
    )
    print(result["replies"][0].text)
    # Ada Brink built the tide mill in 1911.
    ```
    """

    intrinsic: ClassVar[str] = "revise"
    _options: ClassVar[Sequence[str]] = ("mend",)

    def __init__(self, runtime: Any = None, *, mend: bool = True, meta_fields_to_embed: Sequence[str] | None = None,
                 profile: Profile | str | None = None, on_error: str = "fallback",
                 date: str | None = None) -> None:  # fmt: skip
        """
        Create a reviser. Nothing is loaded before `warm_up` or the first run.

        :param runtime: A config (`{"kind": "server", "base_url": ...}`), a chat generator or a runtime; None: embedded.
        :param mend: Whether a language model may mend sentences; otherwise the unfaithful ones are dropped.
        :param meta_fields_to_embed: Fields of `meta` that the answering model is shown: the judge is shown them, too.
        :param profile: A profile or its name; the runtime's own where left out.
        :param on_error: `"fallback"`: where the judgement failed the reply passes, and its result says so; or `"raise"`
        :param date: Date text for prompts that carry one; the day of the call where left out.
        """
        Intrinsic.__init__(self, runtime, meta_fields_to_embed=meta_fields_to_embed, profile=profile,
                           on_error=on_error, date=date)  # fmt: skip
        self.mend = mend

    @component.output_types(replies=list[ChatMessage], results=list[dict[str, Any]])
    def run(self, query: str, documents: list[Document], replies: Replies, history: History = None) -> dict[str, Any]:
        """
        Revise replies.

        :param query: The question.
        :param documents: What the answer should rest on; without any, nothing is judged.
        :param replies: Answers to it, as generators return them.
        :param history: Turns before the question, where it needs them to be understood.
        :returns: `replies`: copies; `results`: what was changed in each.
        :raises IntrinsicsError: Bad input is an InvalidInput that names it; see `intrinsics_core.protocol.errors`.
        """
        rows = self._rows(query, replies, documents, history)
        return self._outputs(rows, self._judged(rows))

    @component.output_types(replies=list[ChatMessage], results=list[dict[str, Any]])
    async def run_async(
        self, query: str, documents: list[Document], replies: Replies, history: History = None
    ) -> dict[str, Any]:
        """Like `run`, without blocking the event loop."""
        rows = self._rows(query, replies, documents, history)
        return self._outputs(rows, await self._ajudged(rows))

    def _judging(self, reply: ChatMessage, given: PipelineInput) -> Steps[RevisedAnswer]:
        known = known_detection(reply.meta, given.turns[-1].text, given.passages)
        [found] = yield "run", [self._call(given, verdicts=known)]
        if isinstance(found, IntrinsicsError):
            raise found
        revised: RevisedAnswer = found
        return revised

    def _outputs(
        self, rows: Sequence[tuple[ChatMessage, PipelineInput]], found: Sequence[RevisedAnswer]
    ) -> dict[str, Any]:
        replies, results = [], []
        for (reply, given), revised in zip(rows, found, strict=True):
            dump = given.as_dict(revised)
            results.append(dump)
            if revised.changes and not is_structured(reply):  # an object is not rewritten: `results` has the changes
                # What else was said there is about another text.
                replies.append(with_text(reply, revised.answer, {**reply.meta, KEY: {"revise": dump}}))
            else:
                meta = signed(reply.meta, {"revise": dump}, given.turns[-1].text, given.passages)
                replies.append(with_text(reply, None, meta))
        return {"replies": replies, "results": results}
