"""Groundedness checker."""

from collections.abc import Sequence
from typing import Any, ClassVar

from haystack import component
from haystack_integrations.common.rag_intrinsics.base import ReplyIntrinsic

from intrinsics_core import Profile


@component
class RagIntrinsicsGroundednessChecker(ReplyIntrinsic):
    """
    Says for each sentence of an answer whether the documents support it.

    Replies come out as copies with `meta["rag_intrinsics"]["hallucination_detection"]`: a label and a score for the
    answer as a whole, and for each sentence its place, label, score and explanation.

    Usage example:

    ```python
    from haystack import Document
    from haystack_integrations.components.validators.rag_intrinsics import RagIntrinsicsGroundednessChecker

    documents = [Document(id="mill", content="Ada Brink built the tide mill in 1911.")]
    checker = RagIntrinsicsGroundednessChecker()
    result = checker.run(
        query="Who built the tide mill?",
        replies=["Ada Brink built the tide mill in 1911."],
        documents=documents,
    )
    print(result["results"][0]["label"])
    # faithful
    ```
    """

    intrinsic: ClassVar[str] = "hallucination-detection"

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
        Create a groundedness checker. Nothing is loaded before `warm_up` or the first run.

        :param runtime: Where the work is done: a config such as `{"kind": "server", "base_url": ..., "api_key":
            Secret}`, a chat generator, or a runtime of the core; None for the embedded encoder (offline, CPU).
        :param meta_fields_to_embed: Fields of the documents' `meta` that the answering model is shown beside the text:
            the judge is shown them too, after the title.
        :param profile: A profile or its name; the runtime's own where left out.
        :param on_error: `"fallback"`: where the judgement failed the reply passes with every sentence NA, and its
            result says that it is degraded and why; or `"raise"`.
        :param date: Date text for prompts that carry one; the day of the call where left out.
        """
        self._keep(runtime, profile, on_error, date, meta_fields_to_embed)
