"""Query rewriter."""

from typing import Any, ClassVar

from haystack import component
from haystack_integrations.common.rag_intrinsics.base import History, Intrinsic

from intrinsics_core.protocol.query_form import embedding_query
from intrinsics_core.protocol.results import QueryRewrite


@component
class RagIntrinsicsQueryRewriter(Intrinsic):
    """
    Makes the last question of a conversation stand alone, so that a retriever needs no history.

    It has a form of the question for each reader, so that Haystack does not guess which a retriever is to take:
    `retrieval_query` for one that looks for words, `embedding_query` for one that embeds, `standalone_query` for all.

    Usage example:

    ```python
    from haystack.dataclasses import ChatMessage
    from haystack_integrations.components.query.rag_intrinsics import RagIntrinsicsQueryRewriter

    history = [
        ChatMessage.from_user("Tell me about the tide mill."),
        ChatMessage.from_assistant("The tide mill stands on the east quay."),
    ]
    rewriter = RagIntrinsicsQueryRewriter()
    result = rewriter.run(query="When was it built?", history=history)
    print(result["standalone_query"])
    # When was the tide mill built?
    ```
    """

    intrinsic: ClassVar[str] = "query-rewrite"

    @component.output_types(standalone_query=str, retrieval_query=str, embedding_query=str, result=dict[str, Any])
    def run(self, query: str, history: History = None) -> dict[str, Any]:
        """
        Rewrite a question.

        :param query: The question.
        :param history: Turns before it.
        :returns: `standalone_query`: the question, standing alone; `retrieval_query`: with keywords where the profile
            adds them; `embedding_query`: without keywords where the question stands alone; `result`: all of it.
        :raises IntrinsicsError: Bad input is an InvalidInput that names it; see `intrinsics_core.protocol.errors`.
        """
        return self._outputs(self._result(self._call(self._read(query, None, history))))

    @component.output_types(standalone_query=str, retrieval_query=str, embedding_query=str, result=dict[str, Any])
    async def run_async(self, query: str, history: History = None) -> dict[str, Any]:
        """Like `run`, without blocking the event loop."""
        return self._outputs(await self._aresult(self._call(self._read(query, None, history))))

    def _outputs(self, result: QueryRewrite) -> dict[str, Any]:
        return {
            "standalone_query": result.query,
            "retrieval_query": result.retrieval_query,
            "embedding_query": embedding_query(result),
            "result": result.model_dump(mode="json"),
        }
