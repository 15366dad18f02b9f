"""What is done to a question before retrieval: rewriter and expander."""

from __future__ import annotations

import logging
from typing import Any, ClassVar

from intrinsics_core.protocol.results import QueryExpansion, QueryRewrite
from langchain_rag_intrinsics._intrinsic import Intrinsic
from langchain_rag_intrinsics._messages import ChainInput


def tell_of_fallback(result: QueryRewrite | QueryExpansion, done: str) -> None:
    if result.degraded:
        logging.getLogger(__name__).warning("query not %s: %s", done, result.degraded)


class QueryRewriter(Intrinsic):
    """A conversation in, its last question out, so that a retriever needs no history.

    Takes a question, a list of messages, or a mapping with ``messages`` or ``question`` and ``chat_history``. Returns
    the plain question, with ``for_retrieval=True`` the form for a retriever, with ``return_result=True`` the core's
    QueryRewrite. A fallback returns the question as it was and is logged.

    Example:
        >>> from langchain_rag_intrinsics import QueryRewriter
        >>> rewriter = QueryRewriter()
        >>> rewriter.invoke("Who built the tide mill at Port Ellery?")
        'Who built the tide mill at Port Ellery?'
        >>> turns = [("human", "Tell me about the Ellery tide mill."), ("ai", "It was built in 1911 by Ada Brink."),
        ...          ("human", "Is it still running?")]
        >>> isinstance(rewriter.invoke(turns), str)
        True
    """

    intrinsic: ClassVar[str] = "query-rewrite"

    for_retrieval: bool = False

    def _tell(self, value: Any, given: ChainInput, result: QueryRewrite) -> str:
        tell_of_fallback(result, "rewritten")
        return result.retrieval_query if self.for_retrieval else result.query


class QueryExpander(Intrinsic):
    """A conversation in, several queries out, the original first, to be retrieved with side by side.

    Takes what :class:`QueryRewriter` takes; ``documents`` may hold first results. Returns the queries, or with
    ``return_result=True`` the core's QueryExpansion. A fallback returns the question alone and is logged.

    Example:
        >>> from langchain_rag_intrinsics import QueryExpander
        >>> QueryExpander().invoke("Who built the tide mill at Port Ellery?")[0]
        'Who built the tide mill at Port Ellery?'
    """

    intrinsic: ClassVar[str] = "query-expansion"

    def _tell(self, value: Any, given: ChainInput, result: QueryExpansion) -> list[str]:
        tell_of_fallback(result, "expanded")
        return [query.text for query in result.queries]
