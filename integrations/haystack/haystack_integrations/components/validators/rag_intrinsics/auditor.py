"""Auditor."""

from collections.abc import Sequence
from typing import Any, ClassVar

from haystack import component
from haystack.dataclasses import ChatMessage
from haystack_integrations.common.rag_intrinsics.base import ReplyIntrinsic
from haystack_integrations.common.rag_intrinsics.pipeline_input import PipelineInput
from haystack_integrations.components.validators.rag_intrinsics.markers import marked

from intrinsics_core import Profile
from intrinsics_core.chains.notes import unfaithful_places


@component
class RagIntrinsicsAuditor(ReplyIntrinsic):
    """
    Says everything about an answer at once: one request to a language model instead of four.

    Whether the documents answer the question at all, a verdict and citations for each sentence, how certain the answer
    is to be right, whether it addresses the question, and which of these verdicts do not go together. Replies come out
    as copies with `meta["rag_intrinsics"]["audit"]`, and with `[n]` markers in the text; offsets are those of the text
    as it came in.

    Usage example:

    ```python
    from haystack import Document
    from haystack_integrations.components.validators.rag_intrinsics import RagIntrinsicsAuditor

    documents = [Document(id="mill", content="Ada Brink built the tide mill in 1911.")]
    result = RagIntrinsicsAuditor().run(
        query="Who built the tide mill?",
        replies=["Ada Brink built the tide mill in 1911. She sold umbrellas."],
        documents=documents,
    )
    print(result["replies"][0].text)
    print([sentence["label"] for sentence in result["results"][0]["sentences"]])
    # Ada Brink built the tide mill in 1911 [1]. She sold umbrellas.
    # ['faithful', 'unfaithful']
    ```
    """

    intrinsic: ClassVar[str] = "audit"

    def __init__(
        self,
        runtime: Any = None,
        *,
        markers: bool = True,
        meta_fields_to_embed: Sequence[str] | None = None,
        profile: Profile | str | None = None,
        on_error: str = "fallback",
        date: str | None = None,
    ) -> None:
        """
        Create an auditor. Nothing is loaded before `warm_up` or the first run.

        :param runtime: Where the work is done: a config such as `{"kind": "server", "base_url": ..., "api_key":
            Secret}`, a chat generator, or a runtime of the core; None for the embedded encoder (offline, CPU).
        :param markers: Whether to put `[n]` into the text, after sentences that are not unfaithful; n counts the
            documents from 1, in the order they came in.
        :param meta_fields_to_embed: Fields of the documents' `meta` that the answering model is shown beside the text:
            the judge is shown them too, after the title.
        :param profile: A profile or its name; the runtime's own where left out.
        :param on_error: `"fallback"`: where the judgement failed the reply passes with every sentence NA, and its
            result says that it is degraded and why; or `"raise"`.
        :param date: Date text for prompts that carry one; the day of the call where left out.
        """
        self._keep(runtime, profile, on_error, date, meta_fields_to_embed)
        self.markers = markers

    def _shown(self, reply: ChatMessage, dump: dict[str, Any], given: PipelineInput, result: Any) -> ChatMessage:
        cited = [citation for sentence in dump["sentences"] for citation in sentence["citations"]]
        return marked(reply, cited, unfaithful_places(dump)) if self.markers else reply
