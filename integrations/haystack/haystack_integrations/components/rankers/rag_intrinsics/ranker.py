"""Ranker."""

from collections.abc import Sequence
from typing import Any, ClassVar

from haystack import Document, component
from haystack_integrations.common.rag_intrinsics.base import History, Intrinsic, checked_threshold
from haystack_integrations.common.rag_intrinsics.pipeline_input import PipelineInput

from intrinsics_core import InvalidInput, Profile
from intrinsics_core.chains.scores import at_least
from intrinsics_core.intrinsics.reranking import OPTIONS, Reading
from intrinsics_core.protocol.results import Ranking


@component
class RagIntrinsicsRanker(Intrinsic):
    """
    Ranks documents by how well they answer the query, best first.

    Returns copies: `score` holds the ranker's score, `meta` the same as `reranking_score`, the rank as `reranking_rank`
    and the retriever's score as `retrieval_score`; all other metadata stays. The retriever's scores take part in
    probabilities, with a bound, where all documents have one. A document that comes twice, with the same id and text,
    is ranked once.

    Usage example:

    ```python
    from haystack import Document
    from haystack_integrations.components.rankers.rag_intrinsics import RagIntrinsicsRanker

    documents = [
        Document(id="cranes", content="The harbour has two cranes."),
        Document(id="mill", content="Ada Brink built the tide mill in 1911."),
    ]
    ranker = RagIntrinsicsRanker(top_k=1)
    result = ranker.run(query="Who built the tide mill?", documents=documents)
    print(result["documents"][0].id)
    # mill
    ```
    """

    intrinsic: ClassVar[str] = "reranking"
    _options: ClassVar[Sequence[str]] = OPTIONS

    def __init__(self, runtime: Any = None, *, top_k: int | None = None, score_threshold: float | None = None,
                 mode: str | None = None, prior: Reading | None = "auto",
                 meta_fields_to_embed: Sequence[str] | None = None, profile: Profile | str | None = None,
                 on_error: str = "raise", date: str | None = None) -> None:  # fmt: skip
        """
        Create a ranker. Nothing is loaded before `warm_up` or the first run.

        :param runtime: A config (`{"kind": "server", "base_url": ...}`), a chat generator or a runtime; None: embedded.
        :param top_k: Return at most this many; None for all.
        :param score_threshold: Return only documents that score at least this; None for all. Where scores are no
            probabilities (a model compared documents, or a fallback stands in) all pass, and `result` has a `warning`.
        :param mode: How a language model ranks: `"listwise"` (one call up to 20 documents), `"pairwise"`,
            `"pointwise"` (one call a document, scores that a threshold fits); None for the profile's own.
        :param prior: Which of two of the retriever's scores is the better one: `"higher"`, `"lower"` (distances), or
            `"auto"`, as the list's order tells. None: they do not count.
        :param meta_fields_to_embed: Fields of `meta` that the answering model is shown: the judge is shown them, too.
        :param profile: A profile or its name; the runtime's own where left out.
        :param on_error: `"raise"`, or `"fallback"`: the order and scores that were there; `result` and `meta` say why.
        :param date: Date text for prompts that carry one; the day of the call where left out.
        :raises InvalidInput: If `top_k`, `score_threshold`, `mode`, `prior` or `on_error` is none that it takes.
        """
        Intrinsic.__init__(self, runtime, meta_fields_to_embed=meta_fields_to_embed, profile=profile,
                           on_error=on_error, date=date)  # fmt: skip
        self.top_k, self.score_threshold = self._checked(top_k), checked_threshold(score_threshold, self.intrinsic)
        self.mode, self.prior = mode, prior
        self._call(self._read("?", (), None))  # a wrong value fails now, not at the first run

    @component.output_types(documents=list[Document], result=dict[str, Any])
    def run(self, query: str, documents: list[Document], history: History = None, top_k: int | None = None,
            score_threshold: float | None = None) -> dict[str, Any]:  # fmt: skip
        """
        Rank documents.

        :param query: The question.
        :param documents: Any number of documents.
        :param history: Turns before the question, where it needs them to be understood.
        :param top_k: Overrides the component's own.
        :param score_threshold: Overrides the component's own.
        :returns: `documents`: copies, best first; `result`: the ranking of all.
        :raises IntrinsicsError: Bad input is an InvalidInput that names it; see `intrinsics_core.protocol.errors`.
        """
        limit, least = self._checked(top_k), checked_threshold(score_threshold, self.intrinsic)
        given = self._read(query, documents, history)
        return self._outputs(given, self._result(self._call(given)), limit, least)

    @component.output_types(documents=list[Document], result=dict[str, Any])
    async def run_async(self, query: str, documents: list[Document], history: History = None, top_k: int | None = None,
                        score_threshold: float | None = None) -> dict[str, Any]:  # fmt: skip
        """Like `run`, without blocking the event loop."""
        limit, least = self._checked(top_k), checked_threshold(score_threshold, self.intrinsic)
        given = self._read(query, documents, history)
        return self._outputs(given, await self._aresult(self._call(given)), limit, least)

    def _outputs(
        self, given: PipelineInput, result: Ranking, top_k: int | None, score_threshold: float | None
    ) -> dict[str, Any]:
        rows, warning = at_least(result, self.score_threshold if score_threshold is None else score_threshold)
        dump = given.as_dict(result) | ({"warning": warning} if warning else {})
        limit = self.top_k if top_k is None else top_k
        return {"documents": [given.judged(self.intrinsic, row, result) for row in rows[:limit]], "result": dump}

    def _checked(self, top_k: int | None) -> int | None:
        if top_k is not None and (isinstance(top_k, bool) or not isinstance(top_k, int) or top_k < 1):
            raise InvalidInput("top_k is out of range", intrinsic=self.intrinsic, expected="a number from 1, or None",
                               got=repr(top_k))  # fmt: skip
        return top_k
