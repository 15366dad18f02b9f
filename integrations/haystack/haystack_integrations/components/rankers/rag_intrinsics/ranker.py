"""Ranker."""

from typing import Any, ClassVar

from haystack import Document, component
from haystack.dataclasses import ChatMessage
from haystack_integrations.common.rag_intrinsics.base import Intrinsic
from haystack_integrations.common.rag_intrinsics.given import Given, judged

from intrinsics_core import InvalidInput, Profile, reranking
from intrinsics_core.intrinsics.reranking import WINDOW
from intrinsics_core.results import Ranking


@component
class RagIntrinsicsRanker(Intrinsic):
    """
    Ranks documents by how well they answer the query, best first.

    Returns copies: `score` holds the ranker's score, `meta["rag_intrinsics"]["reranking"]` rank, score and wins; ids
    and all other metadata stay. A document that comes twice, by its id, is ranked once.

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

    def __init__(
        self,
        runtime: Any = None,
        *,
        top_k: int | None = None,
        score_threshold: float | None = None,
        mode: str | None = None,
        window: int = WINDOW,
        both_orders: bool = False,
        profile: Profile | str | None = None,
        on_error: str = "raise",
        date: str | None = None,
    ) -> None:
        """
        Create a ranker. Nothing is loaded before `warm_up` or the first run.

        :param runtime: Where the work is done: a config such as `{"kind": "server", "base_url": ..., "api_key":
            Secret}`, a chat generator, or a runtime of the core; None for the embedded encoder (offline, CPU).
        :param top_k: Return at most this many; None for all.
        :param score_threshold: Return only documents that score at least this; None for all. Scores of comparing models
            are shares within one ranking, so a threshold fits scoring runtimes such as the embedded one.
        :param mode: How a language model ranks: `"listwise"` (one call up to `window` documents), `"pairwise"`
            (comparisons), `"pointwise"` (one call a document, scores that a threshold fits); None for the profile's
            own.
        :param window: Documents in one list, from 2.
        :param both_orders: Ask about each list or pair in both orders, against position bias, at twice the requests.
        :param profile: A profile or its name; the runtime's own where left out.
        :param on_error: `"raise"`, or `"fallback"`: the original order, and `meta` says that it is degraded.
        :param date: Date text for prompts that carry one; the day of the call where left out.
        :raises InvalidInput: If `top_k`, `mode` or `window` is none that it takes.
        """
        self._keep(runtime, profile, on_error, date)
        self.top_k, self.score_threshold = self._checked(top_k), score_threshold
        self.mode, self.window, self.both_orders = mode, window, both_orders
        reranking([{"role": "user", "content": "?"}], [], **self._how)  # told now, not at the first run

    @component.output_types(documents=list[Document])
    def run(
        self,
        query: str,
        documents: list[Document],
        history: list[ChatMessage] | None = None,
        top_k: int | None = None,
    ) -> dict[str, Any]:
        """
        Rank documents.

        :param query: The question.
        :param documents: Any number of documents.
        :param history: Turns before the question, where it needs them to be understood.
        :param top_k: Overrides the component's own.
        :returns: `documents`: copies, best first.
        :raises IntrinsicsError: Bad input is an InvalidInput that names it; see `intrinsics_core.errors`.
        """
        limit, given = self._checked(top_k), self._read(query, documents, history)
        return self._told(given, self._result(self._call(given, **self._how)), limit)

    @component.output_types(documents=list[Document])
    async def run_async(
        self,
        query: str,
        documents: list[Document],
        history: list[ChatMessage] | None = None,
        top_k: int | None = None,
    ) -> dict[str, Any]:
        """
        Rank documents without blocking the event loop.

        :param query: The question.
        :param documents: Any number of documents.
        :param history: Turns before the question, where it needs them to be understood.
        :param top_k: Overrides the component's own.
        :returns: `documents`: copies, best first.
        :raises IntrinsicsError: Bad input is an InvalidInput that names it; see `intrinsics_core.errors`.
        """
        limit, given = self._checked(top_k), self._read(query, documents, history)
        return self._told(given, await self._aresult(self._call(given, **self._how)), limit)

    @property
    def _how(self) -> dict[str, Any]:
        return {"mode": self.mode, "window": self.window, "both_orders": self.both_orders}

    def _told(self, given: Given, result: Ranking, top_k: int | None) -> dict[str, Any]:
        floor = float("-inf") if self.score_threshold is None else self.score_threshold
        kept = [row for row in result.ranking if row.score is None or row.score >= floor or result.degraded]
        limit = self.top_k if top_k is None else top_k
        return {"documents": judged(given, kept[:limit], self.intrinsic, result)}

    def _checked(self, top_k: int | None) -> int | None:
        if top_k is not None and (isinstance(top_k, bool) or not isinstance(top_k, int) or top_k < 1):
            raise InvalidInput("top_k is out of range", intrinsic=self.intrinsic, expected="a number from 1, or None",
                               got=repr(top_k))  # fmt: skip
        return top_k
