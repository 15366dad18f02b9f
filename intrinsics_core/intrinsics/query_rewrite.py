"""Query rewrite: the last user turn as a question that stands alone."""

from __future__ import annotations

from intrinsics_core.intrinsics.calling import Documents, Messages, OnError, call
from intrinsics_core.intrinsics.table import register
from intrinsics_core.protocol.call import Call
from intrinsics_core.protocol.results import QueryRewrite
from intrinsics_core.protocol.task import Task


def _original(task: Task, why: str) -> QueryRewrite:
    return QueryRewrite(query=task.query, original=task.query, changed=False, degraded=why)


@register(
    "query-rewrite",
    result=QueryRewrite,
    ends_with=("user",),
    fallbacks={"fallback": _original},
    needs="a last user turn",
    gives="a standalone form of the question",
)
def query_rewrite(
    messages: Messages, documents: Documents = (), *, on_error: OnError = "raise", date: str | None = None
) -> Call[QueryRewrite]:
    """Rewrite the last user turn so that a retriever needs no history.

    Args:
        messages: a conversation that ends with a user turn.
        documents: ignored.
        on_error: ``"fallback"`` gives the original query, marked as degraded.
        date: date text for prompts that carry one; the day of the call where left out.

    Returns:
        A call whose result's ``query`` is the standalone question, and ``original`` the user's own.

    Raises:
        InvalidInput: if the input is invalid. It is raised by this function, not by `run`.

    Source: *A Library of LLM Intrinsics for RAG* (2025), query rewrite.

    Example:

        >>> from intrinsics_core import query_rewrite, run
        >>> question = [{"role": "user", "content": "Who built the lighthouse?"}]
        >>> answer = [*question, {"role": "assistant", "content": "Ada Brink built the lighthouse in 1911."}]
        >>> messages = [*answer, {"role": "user", "content": "When was it built?"}]
        >>> run(query_rewrite(messages)).query
        'When was the lighthouse built?'
    """
    return call("query-rewrite", messages, documents, date=date, on_error=on_error)
