"""Query expander."""

from typing import Any, ClassVar

from haystack import Document, component
from haystack_integrations.common.rag_intrinsics.base import History, Intrinsic

from intrinsics_core.protocol.results import QueryExpansion


@component
class RagIntrinsicsQueryExpander(Intrinsic):
    """
    Makes several queries of a question, the original first, to be retrieved with side by side.

    Its `queries` fit Haystack's `MultiQueryTextRetriever` and `MultiQueryEmbeddingRetriever`.

    Usage example:

    ```python
    from haystack_integrations.components.query.rag_intrinsics import RagIntrinsicsQueryExpander

    expander = RagIntrinsicsQueryExpander()
    result = expander.run(query="Who built the tide mill at Port Ellery?")
    print(result["queries"][0])
    # Who built the tide mill at Port Ellery?
    ```
    """

    intrinsic: ClassVar[str] = "query-expansion"

    @component.output_types(queries=list[str], result=dict[str, Any])
    def run(self, query: str, history: History = None, documents: list[Document] | None = None) -> dict[str, Any]:
        """
        Expand a question.

        :param query: The question.
        :param history: Turns before it.
        :param documents: First results of a retriever, where there are any.
        :returns: `queries`: the original first, all different; `result`: with the strategy of each.
        :raises IntrinsicsError: Bad input is an InvalidInput that names it; see `intrinsics_core.protocol.errors`.
        """
        return self._outputs(self._result(self._call(self._read(query, documents, history))))

    @component.output_types(queries=list[str], result=dict[str, Any])
    async def run_async(
        self, query: str, history: History = None, documents: list[Document] | None = None
    ) -> dict[str, Any]:
        """Like `run`, without blocking the event loop."""
        return self._outputs(await self._aresult(self._call(self._read(query, documents, history))))

    def _outputs(self, result: QueryExpansion) -> dict[str, Any]:
        return {"queries": [query.text for query in result.queries], "result": result.model_dump(mode="json")}
