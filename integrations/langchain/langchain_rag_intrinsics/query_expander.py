"""Query expander."""

from __future__ import annotations

import logging
from typing import Any, ClassVar

from intrinsics_core.protocol.results import QueryExpansion
from langchain_rag_intrinsics._intrinsic import Intrinsic
from langchain_rag_intrinsics._messages import ChainInput


class QueryExpander(Intrinsic):
    """A conversation in, several queries out, the original first, to be retrieved with side by side.

    Takes what :class:`QueryRewriter` takes; ``documents`` may hold first results. Returns the queries; with
    ``return_result=True`` the core's QueryExpansion, which names the strategy of each. A fallback returns the question
    alone and is logged as a warning.

    Example:
        >>> from langchain_rag_intrinsics import QueryExpander
        >>> QueryExpander().invoke("Who built the tide mill at Port Ellery?")[0]
        'Who built the tide mill at Port Ellery?'
    """

    intrinsic: ClassVar[str] = "query-expansion"

    def _tell(self, value: Any, given: ChainInput, result: QueryExpansion) -> list[str]:
        if result.degraded:
            logging.getLogger(__name__).warning("query not expanded: %s", result.degraded)
        return [query.text for query in result.queries]
