"""Context relevance filter."""

from collections.abc import Sequence
from typing import Any, ClassVar, get_args

from haystack import Document, component
from haystack_integrations.common.rag_intrinsics.base import History, Intrinsic, checked_threshold, listed
from haystack_integrations.common.rag_intrinsics.pipeline_input import PipelineInput

from intrinsics_core import Profile
from intrinsics_core.protocol.results import ContextRelevance, Relevance


@component
class RagIntrinsicsContextRelevanceFilter(Intrinsic):
    """
    Keeps the documents that help to answer the query, in their own order.

    Returns copies: `score` holds the probability of being of use, `meta` the label as `context_relevance`, the score as
    `context_relevance_score`, the retriever's as `retrieval_score`; all other metadata stays.

    Usage example:

    ```python
    from haystack import Document
    from haystack_integrations.components.rankers.rag_intrinsics import RagIntrinsicsContextRelevanceFilter

    documents = [
        Document(id="mill", content="Ada Brink built the tide mill in 1911."),
        Document(id="fog", content="Fog is common from March to May."),
    ]
    relevance_filter = RagIntrinsicsContextRelevanceFilter()
    result = relevance_filter.run(query="Who built the tide mill?", documents=documents)
    print([document.id for document in result["documents"]])
    # ['mill']
    ```
    """

    intrinsic: ClassVar[str] = "context-relevance"

    def __init__(self, runtime: Any = None, *,
                 labels: Relevance | Sequence[Relevance] = ("relevant", "partially relevant"),
                 score_threshold: float | None = None, meta_fields_to_embed: Sequence[str] | None = None,
                 profile: Profile | str | None = None, on_error: str = "raise",
                 date: str | None = None) -> None:  # fmt: skip
        """
        Create a filter. Nothing is loaded before `warm_up` or the first run.

        :param runtime: A config (`{"kind": "server", "base_url": ...}`), a chat generator or a runtime; None: embedded.
        :param labels: Which labels to keep, one or several.
        :param score_threshold: Keep only documents that score at least this, or have no score; None for all.
        :param meta_fields_to_embed: Fields of `meta` that the answering model is shown: the judge is shown them, too.
        :param profile: A profile or its name; the runtime's own where left out.
        :param on_error: `"raise"`, or `"fallback"`: a document whose judgement failed is kept, with the score it came
            with, and its `meta` says why as `context_relevance_degraded`.
        :param date: Date text for prompts that carry one; the day of the call where left out.
        :raises InvalidInput: If `labels`, `score_threshold` or `on_error` has what it does not take.
        """
        Intrinsic.__init__(self, runtime, meta_fields_to_embed=meta_fields_to_embed, profile=profile,
                           on_error=on_error, date=date)  # fmt: skip
        self.labels = listed("labels", labels, get_args(Relevance))
        self.score_threshold = checked_threshold(score_threshold, self.intrinsic)

    @component.output_types(documents=list[Document], result=dict[str, Any])
    def run(
        self, query: str, documents: list[Document], history: History = None, score_threshold: float | None = None
    ) -> dict[str, Any]:
        """
        Keep the documents that help.

        :param query: The question.
        :param documents: Any number of documents.
        :param history: Turns before the question, where it needs them to be understood.
        :param score_threshold: Overrides the component's own.
        :returns: `documents`: copies of those that are kept; `result`: the judgements of all.
        :raises IntrinsicsError: Bad input is an InvalidInput that names it; see `intrinsics_core.protocol.errors`.
        """
        least, given = checked_threshold(score_threshold, self.intrinsic), self._read(query, documents, history)
        return self._outputs(given, self._result(self._call(given)), least)

    @component.output_types(documents=list[Document], result=dict[str, Any])
    async def run_async(
        self, query: str, documents: list[Document], history: History = None, score_threshold: float | None = None
    ) -> dict[str, Any]:
        """Like `run`, without blocking the event loop."""
        least, given = checked_threshold(score_threshold, self.intrinsic), self._read(query, documents, history)
        return self._outputs(given, await self._aresult(self._call(given)), least)

    def _outputs(self, given: PipelineInput, result: ContextRelevance, score_threshold: float | None) -> dict[str, Any]:
        least = self.score_threshold if score_threshold is None else score_threshold
        kept = [given.judged(self.intrinsic, row, result) for row in result.kept(self.labels, least)]
        return {"documents": kept, "result": given.as_dict(result)}
