"""Fact checker."""

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

from haystack import component
from haystack_integrations.common.rag_intrinsics.base import ReplyIntrinsic

from intrinsics_core import Profile
from intrinsics_core.intrinsics.fact_check import OPTIONS


@component
class RagIntrinsicsFactChecker(ReplyIntrinsic):
    """
    Says how true an answer is by its sources, from 0 to 1, and which sources that rests on.

    Replies come out as copies with `meta["rag_intrinsics"]["fact_check"]`.

    Usage example:

    ```python
    from haystack import Document
    from haystack_integrations.components.evaluators.rag_intrinsics import RagIntrinsicsFactChecker

    documents = [Document(id="mill", content="Ada Brink built the tide mill in 1911.")]
    checker = RagIntrinsicsFactChecker()
    result = checker.run(query="Who built the tide mill?", replies=["Ada Brink built it."], documents=documents)
    print([source["document_id"] for source in result["results"][0]["sources"]])
    # ['mill']
    ```
    """

    intrinsic: ClassVar[str] = "fact-check"
    _options: ClassVar[Sequence[str]] = OPTIONS

    def __init__(
        self,
        runtime: Any = None,
        *,
        top_k: int | None = None,
        top_p: float | None = 0.9,
        aggregate: Literal["max", "min", "weighted"] = "max",
        sources: Literal["passages", "sentences"] = "passages",
        combine: Literal["mean", "min"] = "mean",
        meta_fields_to_embed: Sequence[str] | None = None,
        profile: Profile | str | None = None,
        on_error: str = "fallback",
        date: str | None = None,
    ) -> None:
        """
        Create a fact checker. Nothing is loaded before `warm_up` or the first run.

        :param runtime: Where the work is done: a config such as `{"kind": "server", "base_url": ..., "api_key":
            Secret}`, a chat generator, or a runtime of the core; None for the embedded encoder (offline, CPU).
        :param top_k: Read at most this many sources, the most relevant; None reads all that `top_p` leaves.
        :param top_p: Read the most relevant sources until their share of all relevance reaches this; None: off.
        :param aggregate: Of a claim's scores by source: the `"max"`, the `"min"`, or the mean `"weighted"` by
            relevance.
        :param sources: What is one source: each document (`"passages"`), or each of its sentences.
        :param combine: Of the scores of an answer's sentences: their `"mean"`, or the `"min"`.
        :param meta_fields_to_embed: Fields of the documents' `meta` that the answering model is shown beside the text:
            the judge is shown them too, after the title.
        :param profile: A profile or its name; the runtime's own where left out.
        :param on_error: `"fallback"`: where the judgement failed the reply passes with no score, and its
            result says that it is degraded and why; or `"raise"`.
        :param date: Date text for prompts that carry one; the day of the call where left out.
        """
        self._keep(runtime, profile, on_error, date, meta_fields_to_embed)
        self.top_k, self.top_p, self.aggregate = top_k, top_p, aggregate
        self.sources, self.combine = sources, combine
