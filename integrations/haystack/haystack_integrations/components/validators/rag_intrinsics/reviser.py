"""Reviser."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

from haystack import component
from haystack.dataclasses import ChatMessage
from haystack_integrations.common.rag_intrinsics.base import ReplyIntrinsic
from haystack_integrations.common.rag_intrinsics.pipeline_input import PipelineInput, is_structured, known_verdict
from haystack_integrations.components.validators.rag_intrinsics.markers import with_text

from intrinsics_core import Profile
from intrinsics_core.chains.notes import KEY
from intrinsics_core.protocol.results import Audit, HallucinationDetection


@component
class RagIntrinsicsReviser(ReplyIntrinsic):
    """
    Mends or drops what the documents do not support in an answer, and checks it again.

    No other sentence is touched. Without a language model the unfaithful sentences are dropped. Replies come out as
    copies with the new text and `meta["rag_intrinsics"]["revise"]`: each change, with its reason, and what is still not
    supported; verdicts on the text as it was are taken out. Where nothing is left the text is empty, and the result
    says so. A groundedness checker, or an auditor without markers, before it saves the first judgement.

    Usage example:

    ```python
    from haystack import Document
    from haystack_integrations.components.validators.rag_intrinsics import RagIntrinsicsReviser

    documents = [Document(id="mill", content="Ada Brink built the tide mill in 1911.")]
    result = RagIntrinsicsReviser().run(
        query="Who built the tide mill?",
        replies=["Ada Brink built the tide mill in 1911. She sold umbrellas."],
        documents=documents,
    )
    print(result["replies"][0].text)
    # Ada Brink built the tide mill in 1911.
    ```
    """

    intrinsic: ClassVar[str] = "revise"
    _options: ClassVar[Sequence[str]] = ("mend",)

    def __init__(
        self,
        runtime: Any = None,
        *,
        mend: bool = True,
        meta_fields_to_embed: Sequence[str] | None = None,
        profile: Profile | str | None = None,
        on_error: str = "fallback",
        date: str | None = None,
    ) -> None:
        """
        Create a reviser. Nothing is loaded before `warm_up` or the first run.

        :param runtime: Where the work is done: a config such as `{"kind": "server", "base_url": ..., "api_key":
            Secret}`, a chat generator, or a runtime of the core; None for the embedded encoder (offline, CPU).
        :param mend: Whether a language model may mend sentences; otherwise the unfaithful ones are dropped.
        :param meta_fields_to_embed: Fields of the documents' `meta` that the answering model is shown beside the text:
            the judge is shown them too, after the title.
        :param profile: A profile or its name; the runtime's own where left out.
        :param on_error: `"fallback"`: where the judgement failed the reply passes with its text as it was, and its
            result says that it is degraded and why; or `"raise"`.
        :param date: Date text for prompts that carry one; the day of the call where left out.
        """
        self._keep(runtime, profile, on_error, date, meta_fields_to_embed)
        self.mend = mend

    def _known(self, reply: ChatMessage | None, given: PipelineInput) -> dict[str, Any]:
        return {"verdicts": None if reply is None else _verdicts(reply, given)}

    def _shown(self, reply: ChatMessage, dump: dict[str, Any], given: PipelineInput, result: Any) -> ChatMessage:
        if not dump["changes"] or is_structured(reply):  # an object is not rewritten: `results` has the changes
            return reply
        meta = {**reply.meta, KEY: {"revise": dump}}  # what else was said there is about another text
        return replace(with_text(reply, dump["answer"]), _meta=meta)


def _verdicts(reply: ChatMessage, given: PipelineInput) -> HallucinationDetection | None:
    """What was said of this very text by these very documents before, if anything was."""
    for intrinsic, kind in (("hallucination-detection", HallucinationDetection), ("audit", Audit)):
        said = known_verdict(reply, intrinsic, given)
        if not said or "degraded" in said or "reason" in said:
            continue
        found = kind.model_validate(said)
        return found if isinstance(found, HallucinationDetection) else found.hallucination
    return None
